package dev.bourse.app;

import static dev.bourse.testing.Polls.within;
import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;

import dev.bourse.access.Tokens;
import dev.bourse.capacity.DirectChange;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Change;
import dev.bourse.store.Statement;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SharedPostgres;
import dev.bourse.testing.TestStore;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What one process changes, another process on the same database goes by, soon. */
@OneEngine("only PostgreSQL is shared by several processes")
class ReplicaNewsTest {
  private static final List<String> SETTINGS =
      List.of(
          "port=0",
          "event-loops=2",
          "capacity.write-cadence=0",
          "limits.requests-per-minute=0",
          "limits.edge-per-minute=0");

  private static String url = "";

  /** Made the world; what only operators do is done here. */
  private static RunningBourse here;

  private static Path folder;

  private static ChildBourse there;

  @BeforeAll
  static void start() throws Exception {
    url = SharedPostgres.server().newStore();
    here = RunningBourse.demo("store.url=" + url);
    folder = RunningBourse.newFolder();
    List<String> settings = new ArrayList<>(SETTINGS);
    settings.add("store.url=" + url);
    there = new ChildBourse(folder, settings);
    // A process that has just started takes its time over the first requests.
    there("acme", "orgwide").get("/api/vm/capacity?cluster=acme-train").ok();
  }

  @AfterAll
  static void stop() throws Exception {
    there.close();
    here.close();
    TestStore.delete(folder);
  }

  private static ApiClient there(String org, String token) {
    return new ApiClient(there.baseUrl(), here.secret(org, token));
  }

  @Test
  void aRevokedTokenIsRefusedByTheOtherWithinASecond() {
    ApiClient caller = there("globex", "readonly");
    caller.get("/api/whoami").ok();
    String tokenId = caller.actor().substring("token:".length());
    await(
        here.database()
            .commit(
                List.of(
                    Statement.guarded(
                        IllegalStateException::new,
                        "UPDATE token SET revoked_at = 1 WHERE token_id = ?",
                        tokenId)),
                List.of(new Change(Tokens.CHANGED, tokenId))));
    within(
        1,
        "the token is refused",
        () -> caller.get("/api/whoami").status() == ErrorCode.UNAUTHORIZED.status());
  }

  @Test
  void aKeyAddedOrRevokedIsKnownToTheOtherWithinASecond() {
    String path = "/api/vm/orgs/globex/ssh-keys";
    ClusterClient client = new ClusterClient(here.as("globex", "orgwide"), "globex", "globex-main");
    String keyId = client.addKey().json().getString("key_id");
    within(1, "the key is listed", () -> keys(path).contains(keyId));
    client.caller().delete(path + "/" + keyId).ok();
    within(1, "the key is gone", () -> !keys(path).contains(keyId));
  }

  private static List<String> keys(String path) {
    return ClusterClient.objects(there("globex", "orgwide").get(path).ok().getJsonArray("keys"))
        .stream()
        .map(key -> key.getString("key_id"))
        .toList();
  }

  @Test
  void writesDisarmedForTheWholePlatformAreDisarmedAtTheOtherWithinASecond() {
    ClusterClient client = new ClusterClient(there("acme", "orgwide"), "acme", "acme-batch");
    armWrites(false);
    within(1, "writes are disarmed", () -> !isArmed(client));
    client.put(client.order(0, 2)).refused(ErrorCode.CAPACITY_WRITES_DISABLED);
    armWrites(true);
    within(1, "writes are armed", () -> isArmed(client));
    client.declare(0, 2);
  }

  private static void armWrites(boolean armed) {
    here.operator()
        .patch("/api/operator/switches", new JsonObject().put("capacity_writes_armed", armed))
        .ok();
  }

  @Test
  void writesDisarmedForAClusterAreDisarmedAtTheOtherWithinASecond() {
    ClusterClient client =
        new ClusterClient(there("openlab", "orgwide"), "openlab", "openlab-main");
    here.steer(client.cluster(), DirectChange.armWrites(false));
    within(1, "writes are disarmed", () -> !isArmed(client));
    client.put(client.order(0, 2)).refused(ErrorCode.CAPACITY_WRITES_DISABLED);
    here.steer(client.cluster(), DirectChange.armWrites(true));
    within(1, "writes are armed", () -> isArmed(client));
    client.declare(0, 2);
  }

  private static boolean isArmed(ClusterClient client) {
    return client.state().getBoolean("writes_armed");
  }

  @Test
  void whatWasSaidWhileNobodyListenedIsReadWithinSeconds() throws Exception {
    ClusterClient writing = new ClusterClient(here.as("acme", "orgwide"), "acme", "acme-train");
    ClusterClient reading = new ClusterClient(there("acme", "orgwide"), "acme", "acme-train");
    for (int round = 0; round < 10; round++) {
      until("a listener is cut off", ReplicaNewsTest::cutListeners);
      writing.declare(0, 2 + round % 3);
      long version = writing.version();
      within(3, "the other reads the write", () -> reading.version() == version);
    }
  }

  /** Ends the sessions that listen, by the last thing they said; false when there were none. */
  private static boolean cutListeners() {
    try (java.sql.Connection session = SharedPostgres.server().connect(url);
        java.sql.Statement cutting = session.createStatement();
        java.sql.ResultSet cut =
            cutting.executeQuery(
                "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity"
                    + " WHERE application_name LIKE 'bourse %' AND datname = current_database()"
                    + " AND (query LIKE '%LISTEN bourse_change' OR query LIKE 'WITH asked%')")) {
      return cut.next() && cut.getInt(1) > 0;
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }
}
