package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.store.Database;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;
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

  @Test
  void aRowWithALesserIdThatComesLaterIsSealedInItsPlace() throws Exception {
    row(5, "acme", false);
    round(sealer::step);
    row(3, "acme", false);
    round(sealer::step);
    assertEquals(0, verify("acme", false, 0).rows());

    settle();
    round(sealer::step);

    assertEquals(2, verify("acme", false, 0).rows());
    assertEquals(List.of(3L), integers("SELECT first_id FROM audit_seal"));
  }

  @Test
  void roundsThatComeBeforeAllIsSettledDoNotPutItOff() throws Exception {
    row(1, "acme", false);
    for (int i = 0; i < 5; i++) {
      round(sealer::step);
      nanos.addAndGet(SETTLE_MILLIS * 1_000_000 / 4);
    }
    round(sealer::step);

    assertEquals(1, verify("acme", false, 0).rows());
  }

  @Test
  void anotherProcessThatSealsAtTheSameTimeSealsNothingTwice() throws Exception {
    Database others = await(openAgain());
    Sealer other = new Sealer(vertx, others, clock, nanos::get, SETTLE_MILLIS);
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
