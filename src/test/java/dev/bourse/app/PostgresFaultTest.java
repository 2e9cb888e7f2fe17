package dev.bourse.app;

import static dev.bourse.app.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.store.PostgresOfClass;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A database that cannot be written makes writes wait and loses none. */
@OneEngine("it takes a server's ways to fail; StoreFaultTest is its counterpart")
class PostgresFaultTest {
  @RegisterExtension static final PostgresOfClass POSTGRES = new PostgresOfClass();

  private String url = "";
  private RunningBourse bourse;

  @BeforeEach
  void start() throws Exception {
    url = POSTGRES.server().newDatabase();
    bourse = RunningBourse.staged(1, "store.url=" + url);
  }

  @AfterEach
  void stop() {
    bourse.close();
  }

  /** The server's own answer when it cannot extend a table; no real disk need be filled for it. */
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
    Desk desk = bourse.stage().redA();
    desk.declare(0, 2);
    JsonObject order = desk.order(0, 3);
    POSTGRES.server().execute(url, FULL);
    JsonObject refusal = desk.put(order).refused(ErrorCode.STORAGE_FULL);
    assertTrue(refusal.getLong("retry_after_s") >= 1);
    desk.addKey().refused(ErrorCode.STORAGE_FULL);
    assertEquals(1L, desk.version());
    assertEquals(1, bourse.audit(desk.orgId(), false).size(), "one row for each accepted write");
    POSTGRES.server().execute(url, "DROP TRIGGER disk_is_full ON audit");
    until("the same request does", () -> desk.put(order).status() == 200);
    assertEquals(2, bourse.audit(desk.orgId(), false).size());
    until(
        "each of the three reads is recorded, those made meanwhile too",
        () -> bourse.audit(desk.orgId(), true).size() == 3);
  }

  @Test
  void whileTheStoreIsTakenWritesAreRefusedAndLaterTheyDo() throws Exception {
    Desk desk = bourse.stage().redA();
    desk.addKey();
    JsonObject order = desk.order(1, 2);
    try (Connection other = POSTGRES.server().connect(url);
        java.sql.Statement taking = other.createStatement()) {
      other.setAutoCommit(false);
      taking.execute("LOCK TABLE cluster IN ACCESS EXCLUSIVE MODE");
      desk.put(order).refused(ErrorCode.OVERLOADED);
      assertEquals(0L, desk.version());
      other.rollback();
    }
    desk.put(order).ok();
    desk.untilHeld(1);
  }
}
