package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Sealing and verifying on a real store. Engines plug in by subclassing. */
abstract class SealsTest extends TrailFixture {
  private static final String SEALS = " FROM audit_seal WHERE org_id = 'acme' AND is_read = 0";

  /** Three batches of acme's writes, ids 10 apart, with globex's and reads between. */
  private void threeBatches() throws Exception {
    for (long batch = 0; batch < 3; batch++) {
      for (long i = 1; i <= 4; i++) {
        long id = 100 * batch + 10 * i;
        row(id, "acme", false);
        row(id + 1, "globex", false);
        row(id + 2, "acme", true);
      }
      seal();
    }
    assertEquals(List.of(), findings("acme", false));
    assertEquals(List.of(), findings("acme", true));
    assertEquals(List.of(), findings("globex", false));
  }

  private void keep(String table) throws Exception {
    run("CREATE TABLE kept AS SELECT * FROM " + table);
  }

  private void restore(String table) throws Exception {
    run("DELETE FROM " + table);
    run("INSERT INTO " + table + " SELECT * FROM kept");
  }

  @Test
  void eachOwnersReadsAndWritesAreChainsOfTheirOwn() throws Exception {
    threeBatches();
    row(1_000, Trails.PLATFORM, false);
    seal();

    for (Chain chain :
        List.of(new Chain("acme", false), new Chain("acme", true), new Chain("globex", false))) {
      SealService.Report report = verify(chain.orgId(), chain.isRead(), 0);
      assertEquals(3, report.batches());
      assertEquals(12, report.rows());
      assertNull(report.next());
      assertEquals(1_000, report.throughId());
      assertEquals(3, Objects.requireNonNull(report.head()).batch());
    }
    assertEquals(1, verify(Trails.PLATFORM, false, 0).rows());
    assertNull(verify("globex", true, 0).head());
  }

  @Test
  void aBatchHasAThousandRowsAtMost() throws Exception {
    rows(1, 2_500, "acme", false);
    seal();

    assertEquals(
        List.of(1_000L, 1_000L, 500L), integers("SELECT row_count" + SEALS + " ORDER BY batch"));
    assertEquals(2_500, verify("acme", false, 0).rows());
  }

  @Test
  void aLongChainIsVerifiedInRuns() throws Exception {
    rows(1, 12_345, "acme", false);
    seal();

    SealService.Report first = verify("acme", false, 0);
    SealService.Report second = verify("acme", false, 10);

    assertEquals(10_000, first.rows());
    assertEquals(10L, first.next());
    assertEquals(2_345, second.rows());
    assertNull(second.next());
  }

  @Test
  void nothingIsSealedTwiceByTwoWhoSealAtOnce() throws Exception {
    rows(1, 3_000, "acme", false);
    Sealer other = newSealer();
    for (int i = 0; i < 2; i++) {
      boolean isMore = true;
      while (isMore) {
        Future<Boolean> mine = sealer.step();
        Future<Boolean> theirs = other.step();
        List<Boolean> more = List.of(await(mine), await(theirs));
        isMore = more.contains(true);
      }
      settle();
    }

    assertEquals(List.of(3_000L), integers("SELECT CAST(SUM(row_count) AS BIGINT)" + SEALS));
    assertEquals(List.of(), findings("acme", false));
    rows(3_001, 3_010, "acme", false);
    seal();
    assertEquals(3_010, verify("acme", false, 0).rows());
  }

  @Test
  void anUnknownOrganizationHasNoSeals() {
    ExecutionException e = assertThrows(ExecutionException.class, () -> verify("nobody", false, 0));
    ApiException refusal = assertInstanceOf(ApiException.class, e.getCause());
    assertEquals(ErrorCode.NOT_FOUND, refusal.code());
  }

  @Test
  void whatIsNotSealedYetIsNoFault() throws Exception {
    threeBatches();
    row(900, "acme", false);

    assertEquals(List.of(), findings("acme", false));
  }

  @Test
  void aChangedRowIsNamed() throws Exception {
    threeBatches();
    keep("audit");
    for (String change :
        List.of("ts = ts + 1", "actor = 'x'", "action = 'x'", "subject = ''", "detail = 'x'")) {
      restore("audit");
      run("UPDATE audit SET " + change + " WHERE id = 130");

      assertEquals(List.of("2 130 changed"), findings("acme", false), change);
      assertEquals(List.of(), findings("globex", false));
    }
  }

  @Test
  void theFirstOfSeveralIsNamedAndTheRestFoundByGoingOn() throws Exception {
    threeBatches();
    run("UPDATE audit SET detail = 'x' WHERE id IN (120, 130, 210)");

    SealService.Report report = verify("acme", false, 0);

    assertEquals(1, report.batches());
    assertEquals(120L, Objects.requireNonNull(report.fault()).rowId());
    assertEquals(2L, report.next());
    assertEquals(List.of("2 120 changed", "3 210 changed"), findings("acme", false));
  }

  @Test
  void aDeletedRowIsNamed() throws Exception {
    threeBatches();
    run("DELETE FROM audit WHERE id IN (10, 140, 240)");

    assertEquals(
        List.of("1 10 missing", "2 140 missing", "3 240 missing"), findings("acme", false));
  }

  @Test
  void aRowSlippedInIsNamedAlsoBetweenBatchesAndAfterTheLast() throws Exception {
    threeBatches();
    row(125, "acme", false);
    assertEquals(List.of("2 125 added"), findings("acme", false));
    run("DELETE FROM audit WHERE id = 125");
    row(77, "acme", false);
    row(5, "acme", false);
    assertEquals(List.of("1 5 added", "2 77 added"), findings("acme", false));
    run("DELETE FROM audit WHERE id IN (5, 77)");
    // Globex's last row has id 241, so that all is sealed up to 242.
    run("UPDATE audit SET org_id = 'acme' WHERE id = 241");
    assertEquals(List.of("4 241 added"), findings("acme", false));
  }

  @Test
  void aRowMovedToAnotherTrailIsMissingInOneAndAddedToTheOther() throws Exception {
    threeBatches();
    run("UPDATE audit SET org_id = 'globex' WHERE id = 130");

    assertEquals(List.of("2 130 missing"), findings("acme", false));
    assertEquals(List.of("2 130 added"), findings("globex", false));
  }

  @Test
  void aWriteMadeAReadIsMissingInOneChainAndAddedToTheOther() throws Exception {
    threeBatches();
    run("UPDATE audit SET is_read = 1 WHERE id = 110");

    assertEquals(List.of("2 110 missing"), findings("acme", false));
    assertEquals(List.of("2 110 added"), findings("acme", true));
  }

  @Test
  void swappedIdsAreNamed() throws Exception {
    threeBatches();
    run("UPDATE audit SET id = 999 WHERE id = 120");
    run("UPDATE audit SET id = 120 WHERE id = 130");
    run("UPDATE audit SET id = 130 WHERE id = 999");

    assertEquals(List.of("2 120 changed"), findings("acme", false));
  }

  @Test
  void aBatchSealedAnewBreaksTheChainAfterIt() throws Exception {
    threeBatches();
    run("UPDATE audit SET detail = 'x' WHERE id = 130");
    SealStore store = new SealStore(database);
    Chain chain = new Chain("acme", false);
    List<Seal> seals = await(store.listSeals(chain, 1, 2));
    RowDigests.Gathered rows = new RowDigests.Gathered();
    await(store.listRows(chain, 40, 140, 10)).forEach(r -> rows.add(r.id(), RowDigests.of(r)));
    Seal forged =
        Seal.sealing(
            chain,
            seals.get(0).link(),
            rows.all(),
            seals.get(1).newestAtMillis(),
            seals.get(1).sealedAtMillis());
    await(
        database.commit(
            List.of(
                Statement.of(
                    "UPDATE audit_seal SET row_digests = ?, seal = ?"
                        + " WHERE org_id = 'acme' AND is_read = 0 AND batch = 2",
                    forged.rows().bytes(),
                    forged.seal()))));

    assertEquals(List.of("3 null seal"), findings("acme", false));
  }

  @Test
  void anAlteredRecordOfABatchIsFound() throws Exception {
    threeBatches();
    keep("audit_seal");
    for (String change :
        List.of(
            "seal = 'x'",
            "sealed_at = sealed_at - 1",
            "newest_at = 0",
            "row_count = 3",
            "row_count = 4000000000",
            "first_id = 111",
            "last_id = 141")) {
      restore("audit_seal");
      run(
          "UPDATE audit_seal SET "
              + change
              + " WHERE org_id = 'acme' AND is_read = 0 AND batch = 2");

      assertEquals("2 null seal", findings("acme", false).get(0), change);
    }
  }

  @Test
  void aDeletedSealIsAGap() throws Exception {
    threeBatches();
    run("DELETE" + SEALS + " AND batch = 2");
    assertEquals(List.of("2 null gap"), findings("acme", false));
    run("DELETE" + SEALS + " AND batch = 1");
    assertEquals("1 null gap", findings("acme", false).get(0));
  }

  @Test
  void theRowsOfADeletedLastSealAreNamed() throws Exception {
    threeBatches();
    run("DELETE" + SEALS + " AND batch = 3");
    assertEquals(List.of("3 210 added"), findings("acme", false));
    run("DELETE" + SEALS);
    assertEquals(List.of("1 10 added"), findings("acme", false));
  }

  @Test
  void rowsPassedOffAsPurgedAreFound() throws Exception {
    threeBatches();
    run("DELETE FROM audit WHERE org_id = 'acme' AND is_read = 0 AND id BETWEEN 110 AND 140");
    run("UPDATE audit_seal SET purged_at = 1 WHERE org_id = 'acme' AND is_read = 0 AND batch = 2");
    assertEquals("2 null seal", findings("acme", false).get(0));
    Seal second = await(new SealStore(database).listSeals(new Chain("acme", false), 2, 2)).get(0);
    await(
        database.commit(
            List.of(
                Statement.of(
                    "UPDATE audit_seal SET row_digests = ?"
                        + " WHERE org_id = 'acme' AND is_read = 0 AND batch = 2",
                    second.rows().withoutRows().bytes()))));
    assertEquals("2 null seal", findings("acme", false).get(0));
  }

  @Test
  void sealingStopsWhenTheMarkWasSetBack() throws Exception {
    threeBatches();
    run("UPDATE audit_sealed SET through_id = 0");
    row(900, "acme", false);

    ExecutionException e = assertThrows(ExecutionException.class, this::seal);

    assertTrue(String.valueOf(e.getMessage()).contains("set back"), e.getMessage());
    assertEquals(List.of(), findings("acme", false));
  }

  @Test
  void aCommitThatFailsIsMadeUpForInTheNextRound() throws Exception {
    rows(1, 1_500, "acme", false);
    AtomicInteger failures = new AtomicInteger(1);
    Sealer failing = new Sealer(vertx, failing(failures), clock);
    for (int i = 0; i < 3; i++) {
      settle();
      Future<Boolean> step = failing.step();
      while (await(step.otherwise(false))) {
        step = failing.step();
      }
    }

    assertEquals(0, failures.get());
    assertEquals(1_500, verify("acme", false, 0).rows());
  }

  /**
   * Simulates the promotion of a standby that lacks a row which was read from the previous server.
   */
  @Test
  void rowsThatAreLostBeforeTheirSealIsStoredAreNotInIt() throws Exception {
    rows(1, 9, "acme", false);
    AtomicInteger losses = new AtomicInteger(1);
    Database promoted =
        new ForwardingDatabase(database) {
          @Override
          public Future<Void> commit(List<Statement> statements, List<Change> changes) {
            Future<Void> lost =
                losses.getAndDecrement() > 0
                    ? super.commit(List.of(Statement.of("DELETE FROM audit WHERE id = 7")))
                    : Future.succeededFuture();
            return lost.compose(v -> super.commit(statements, changes));
          }
        };
    settle();
    Sealer reading = new Sealer(vertx, promoted, clock);
    round(reading::step);
    assertNull(verify("acme", false, 0).head());
    round(reading::step);

    assertEquals(8, verify("acme", false, 0).rows());
    assertEquals(List.of(), findings("acme", false));
  }

  /** A store that rejects this many of its commits. */
  private Database failing(AtomicInteger failures) {
    return new ForwardingDatabase(database) {
      @Override
      public Future<Void> commit(List<Statement> statements, List<Change> changes) {
        return failures.getAndUpdate(n -> Math.max(0, n - 1)) > 0
            ? Future.failedFuture(new StoreUnavailableException("made to fail", null))
            : super.commit(statements, changes);
      }
    };
  }
}
