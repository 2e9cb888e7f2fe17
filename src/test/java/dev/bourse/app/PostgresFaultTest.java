package dev.bourse.app;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Writes wait for a database that cannot be written, and none is lost. */
@OneEngine("it takes a server's ways to fail; StoreFaultTest is its counterpart")
class PostgresFaultTest {
  private String url = "";
  private RunningBourse bourse;

  @BeforeEach
  void start() throws Exception {
    url = SharedPostgres.server().newStore();
    // The longest wait of a write for a locked table.
    bourse = RunningBourse.withMarkets(1, "store.url=" + url, "store.query-timeout=10s");
  }

  @AfterEach
  void stop() {
    bourse.close();
  }

  /** The server's own message when it cannot extend a table; no disk has to be filled. */
  private static final String FULL =
      """
      CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
      END $$;
      CREATE TRIGGER disk_is_full BEFORE INSERT ON audit EXECUTE FUNCTION disk_is_full();
      """;

  @Test
  void onAFullDiskWritesAreRefusedReadsGoOnAndRoomMendsIt() throws Exception {
    ClusterClient client = bourse.market().redA();
    client.declare(0, 2);
    JsonObject order = client.order(0, 3);
    SharedPostgres.server().execute(url, FULL);
    JsonObject refusal = client.put(order).refused(ErrorCode.STORAGE_FULL);
    assertTrue(refusal.getLong("retry_after_s") >= 1);
    client.addKey().refused(ErrorCode.STORAGE_FULL);
    assertEquals(1L, client.version());
    assertEquals(1, bourse.audit(client.orgId(), false).size(), "one row for each accepted write");
    SharedPostgres.server().execute(url, "DROP TRIGGER disk_is_full ON audit");
    until("the same request does", () -> client.put(order).status() == 200);
    assertEquals(2, bourse.audit(client.orgId(), false).size());
    until(
        "each of the three reads is recorded, those made meanwhile too",
        () -> bourse.audit(client.orgId(), true).size() == 3);
  }

  @Test
  void whileTheStoreIsTakenWritesAreRefusedAndLaterTheyDo() throws Exception {
    ClusterClient client = bourse.market().redA();
    client.addKey();
    JsonObject order = client.order(1, 2);
    try (Connection other = SharedPostgres.server().connect(url);
        java.sql.Statement taking = other.createStatement()) {
      other.setAutoCommit(false);
      taking.execute("LOCK TABLE cluster IN ACCESS EXCLUSIVE MODE");
      client.put(order).refused(ErrorCode.OVERLOADED);
      assertEquals(0L, client.version());
      other.rollback();
    }
    until("the same request does", () -> client.put(order).status() == 200);
    client.untilHeld(1);
  }
}
