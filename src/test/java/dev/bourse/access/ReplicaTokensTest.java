package dev.bourse.access;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.contract.OperationContract;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ports;
import dev.bourse.core.Secrets;
import dev.bourse.store.Database;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.Browser;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EventReader;
import dev.bourse.testing.HeldRequest;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OAuthApplication;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SharedPostgres;
import dev.bourse.testing.TestStore;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Members' tokens of one process are valid at another on the same database without a copied key.
 */
@OneEngine("only PostgreSQL is shared by several processes")
class ReplicaTokensTest {
  private static RunningBourse here;
  private static Path folder;
  private static ChildBourse there;

  /** The port of the other process, whose public address both use. */
  private static String address;

  @BeforeAll
  static void start() throws Exception {
    String url = SharedPostgres.server().newStore();
    here = RunningBourse.demo("store.url=" + url);
    folder = RunningBourse.newFolder();
    int port = Ports.free();
    address = "http://localhost:" + port;
    there =
        new ChildBourse(
            folder,
            List.of(
                "port=" + port,
                "base-url=" + here.service().baseUrl(),
                "event-loops=2",
                "store.url=" + url));
  }

  @AfterAll
  static void stop() throws Exception {
    there.close();
    here.close();
    TestStore.delete(folder);
  }

  private static HttpAnswer filesThere(JsonObject tokens) {
    return new ApiClient(address, tokens.getString("access_token")).get("/api/checkpoints");
  }

  /** The bodies arrive while the process is stopped, so it reads them when it continues. */
  @Test
  void aProcessThatWasStoppedCarriesOutNoWriteOfACallerRevokedMeanwhile() {
    String token = here.secret("globex", "bound");
    ClusterClient program = new ClusterClient(here.with(token), "globex", "globex-main");
    String session = here.startSession("globex", "dave");
    String minting =
        new JsonObject()
            .put("name", "never")
            .put("scopes", new JsonArray(List.of("capacity:read")))
            .encode();
    List<HeldRequest> held =
        List.of(
            HeldRequest.of(address, token, "PUT /api/vm/capacity", program.order(0, 3).encode()),
            HeldRequest.of(
                address, here.memberToken("openlab", "carol"), "POST /api/console/tokens", minting),
            new HeldRequest(
                address,
                "POST /api/console/tokens",
                minting.getBytes(StandardCharsets.UTF_8),
                "Content-Type: application/json",
                "Cookie: bourse=" + session,
                OperationContract.CSRF_HEADER + ": " + Secrets.derived(session, "csrf")));
    there.freeze();
    here.operator().delete("/api/operator/orgs/globex/tokens/" + token.split("_", 3)[1]).ok();
    here.operator()
        .patch("/api/operator/orgs/openlab/members/carol", new JsonObject().put("suspended", true))
        .ok();
    here.inSession(session).post("/api/console/sign-out-everywhere", new JsonObject()).ok();
    long since = System.nanoTime();
    held.forEach(HeldRequest::send);
    until(
        "revocations are in force everywhere",
        () -> System.nanoTime() - since > TimeUnit.MILLISECONDS.toNanos(Database.REVOKED_MILLIS));
    there.thaw();
    for (HeldRequest write : held) {
      String answer = write.answer();
      assertTrue(answer.startsWith("HTTP/1.1 401 "), answer);
      write.close();
    }
    assertEquals(
        List.of(),
        RunningBourse.await(
            here.database()
                .read(
                    "SELECT token_id FROM token WHERE name = 'never'",
                    List.of(),
                    row -> row.text("token_id"))));
    assertEquals(
        0, new ClusterClient(here.as("globex", "orgwide"), "globex", "globex-main").version());
  }

  private static JsonArray keys(ApiClient client) {
    return client.get("/oauth/jwks.json").ok().getJsonArray("keys");
  }

  @Test
  void eachHasAPrivateKeyOfItsOwnAndTellsThePublicKeysOfBoth() throws Exception {
    RunningBourse.until("each has heard of the other's", () -> keys(here.with(null)).size() == 2);
    JsonArray told = keys(here.with(null));
    assertEquals(told, keys(new ApiClient(address, null)));
    try (var keys = Files.list(folder.resolve("signing-keys"))) {
      assertEquals(1, keys.count());
    }
  }

  @Test
  void whatEitherIssuesDoesAtTheOther() throws Exception {
    OAuthApplication app = OAuthApplication.registered(here);
    filesThere(app.tokens(OAuthApplication.signIn(here, "acme", "alice"))).ok();
    String theirs =
        Objects.requireNonNull(
            new JsonObject(Files.readString(folder.resolve("demo.json")))
                .getJsonObject("orgs")
                .getJsonObject("acme")
                .getJsonObject("members")
                .getJsonObject("alice")
                .getString("member_token"));
    here.with(theirs).get("/api/checkpoints").ok();
  }

  @Test
  void theOtherGoesOnWhereOneLeftOff() {
    OAuthApplication app = OAuthApplication.registered(here);
    JsonObject tokens = app.tokens(OAuthApplication.signIn(here, "acme", "alice"));
    HttpAnswer answer =
        new ApiClient(address, null)
            .send(
                "POST",
                "/oauth/token",
                OAuthApplication.encoded(app.refreshing(tokens)),
                "Content-Type",
                "application/x-www-form-urlencoded");
    here.with(answer.ok().getString("access_token")).get("/api/checkpoints").ok();
    // The first was used at the other process, so this is a second use.
    OAuthApplication.refused(app.token(app.refreshing(tokens)), "invalid_grant");
    until("refused", () -> filesThere(tokens).status() == ErrorCode.UNAUTHORIZED.status());
  }

  @Test
  void whoSignsOutAtOneListensNoMoreAtTheOther() {
    Browser bob = new Browser(here).signedIn("bob@acme.example");
    JsonObject tokens =
        OAuthApplication.registered(here).tokens(OAuthApplication.signIn(here, "acme", "bob"));
    try (EventReader browser =
            EventReader.inBrowser(
                address, "bourse=" + here.startSession("acme", "bob"), "acme-train");
        EventReader application =
            new EventReader(address, tokens.getString("access_token"), "acme-train", null)) {
      bob.post("/sign-out/everywhere", Map.of("csrf", Browser.field(bob.get("/account"), "csrf")));
      long since = System.nanoTime();
      until("both have ended", () -> browser.hasEnded() && application.hasEnded());
      // Shorter than the interval of heartbeats.
      assertTrue(System.nanoTime() - since < TimeUnit.SECONDS.toNanos(10));
    }
  }
}
