package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.store.Database;
import dev.bourse.store.postgres.GroupStart;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;
import java.sql.Connection;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Seals on a server that several processes share. */
class PostgresSealsTest extends SealsTest {
  private String url = "";

  @Override
  Future<? extends Database> open() throws Exception {
    url = SharedPostgres.server().newStore();
    return openAgain();
  }

  private Future<? extends Database> openAgain() {
    return SharedPostgres.openStore(vertx, url, clock);
  }

  /** The commit hangs until the test ends it, as with a standby that does not confirm. */
  @Test
  void aCommitThatHangsIsNotPassedOver() throws Exception {
    String insert =
        "INSERT INTO audit (ts, org_id, actor, action, subject, detail, is_read)"
            + " VALUES (1, 'acme', 'token:a', 'vm_capacity_put', 'c', 'd', 0)";
    run(insert);
    try (Connection hanging = SharedPostgres.server().connect(url);
        java.sql.Statement sql = hanging.createStatement()) {
      hanging.setAutoCommit(false);
      sql.execute(GroupStart.SQL);
      sql.execute(insert);
      run(insert);

      round(sealer::step);
      assertEquals(1, verify("acme", false, 0).rows());
      hanging.commit();
    }
    round(sealer::step);

    assertEquals(3, verify("acme", false, 0).rows());
    assertEquals(List.of(1L, 2L), integers("SELECT row_count FROM audit_seal ORDER BY batch"));
    assertEquals(List.of(), findings("acme", false));
  }

  @Test
  void anotherProcessThatSealsAtTheSameTimeSealsNothingTwice() throws Exception {
    Database others = await(openAgain());
    Sealer other = new Sealer(vertx, others, clock);
    for (int i = 0; i < 5; i++) {
      rows(1 + 1_000 * i, 600 + 1_000 * i, "acme", false);
      settle();
      Future<Boolean> mine = sealer.step();
      Future<Boolean> theirs = other.step();
      await(mine);
      await(theirs);
    }
    seal();
    await(others.close());

    assertEquals(3_000, verify("acme", false, 0).rows());
    assertEquals(
        List.of(3_000L), integers("SELECT CAST(SUM(row_count) AS BIGINT) FROM audit_seal"));
  }
}
