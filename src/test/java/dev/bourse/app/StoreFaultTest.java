package dev.bourse.app;

import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.ErrorCode;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import dev.bourse.store.sqlite.SqliteConfig;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A store that cannot be written makes writes wait and loses none. */
@OneEngine(
    "it fills and locks the file of the embedded store; PostgresFaultTest is its counterpart")
class StoreFaultTest {
  private static final String FILLER = "filler";

  @Test
  void onAFullDiskWritesAreRefusedReadsGoOnAndRoomMendsIt() {
    SqliteConfig small = new SqliteConfig(65_536, 4_096, 2, 2 << 20);
    try (RunningBourse bourse =
        RunningBourse.withMarkets(
            1, small, "market.tick=1h", "store.probe-interval=50ms", "store.away-after=500ms")) {
      ClusterClient client = bourse.market().redA();
      fill(bourse.database());
      JsonObject order = client.order(0, 2);
      // The free room in half-empty pages takes a few more.
      for (int i = 0; i < 500 && client.put(order).status() == 200; i++) {
        order = client.order(0, 2);
      }
      JsonObject refusal = client.put(order).refused(ErrorCode.STORAGE_FULL);
      assertEquals(60, refusal.getLong("retry_after_s"));
      client.addKey().refused(ErrorCode.STORAGE_FULL);
      // On a machine that stands still, a store that does not answer may be the reason before.
      until(
          "it is not ready, for want of room",
          () -> bourse.unready().contains("cannot be written: it has no room left"));
      JsonObject state = client.state();
      assertEquals(order.getLong("expected_version"), state.getLong("version"));
      int rows = bourse.audit(client.orgId(), false).size();
      assertEquals(state.getLong("version"), rows, "one row for each accepted write");
      // Others' commits still fail, and so does a batch shared with this one.
      Statement emptying = Statement.of("DELETE FROM audit WHERE org_id = ?", FILLER);
      until("room is made", () -> isStored(bourse.database(), emptying));
      JsonObject sameAgain = order;
      until("the same request does", () -> client.put(sameAgain).status() == 200);
      assertEquals(rows + 1, bourse.audit(client.orgId(), false).size());
      until("it is ready", () -> bourse.unready().isEmpty());
      until("the reads made meanwhile are recorded", () -> reads(bourse, client) > 0);
    }
  }

  private static int reads(RunningBourse bourse, ClusterClient client) {
    return bourse.audit(client.orgId(), true).size();
  }

  private static void fill(Database database) {
    for (int bytes = 1 << 16; bytes >= 1 << 6; bytes /= 4) {
      Statement row =
          Statement.of(
              "INSERT INTO audit (ts, org_id, actor, action, subject, detail, is_read)"
                  + " VALUES (0, ?, '', '', '', ?, 0)",
              FILLER,
              "x".repeat(bytes));
      boolean hasRoom = true;
      while (hasRoom) {
        hasRoom = isStored(database, row);
      }
    }
  }

  private static boolean isStored(Database database, Statement statement) {
    return await(
        database.commit(List.of(statement)).map(stored -> true).otherwise(refused -> false));
  }
}
