package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Future;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Deletes expired rows of the trails. Engines plug in by subclassing. */
abstract class TrailRetentionTest extends TrailFixture {
  private static final long READS_KEPT = 1_000_000;
  private static final long WRITES_KEPT = 9_000_000;

  private static AuditConfig config(long readsMillis, long writesMillis) {
    return new AuditConfig(1, readsMillis, writesMillis, 0, 1);
  }

  private TrailRetention retention(long readsMillis, long writesMillis) {
    return new TrailRetention(vertx, database, config(readsMillis, writesMillis), clock);
  }

  private void purge(long readsMillis, long writesMillis) throws Exception {
    round(retention(readsMillis, writesMillis)::step);
  }

  /** Two sealed batches of acme's reads and one of its writes, then a young row of globex's. */
  private void oldRows() throws Exception {
    for (long id : List.of(10L, 20L, 30L)) {
      row(id, "acme", true);
    }
    row(40, "acme", false);
    seal();
    clock.advance(10);
    row(50, "acme", true);
    seal();
    clock.advance(READS_KEPT);
    row(60, "globex", false);
    seal();
  }

  private List<Long> ids() throws Exception {
    return integers("SELECT id FROM audit ORDER BY id");
  }

  @Test
  void aBatchGoesWholeOnceItsNewestRowIsPastItsTime() throws Exception {
    row(10, T0 - 5_000, "acme", true);
    row(20, T0, "acme", true);
    row(30, "globex", false);
    seal();
    clock.advance(READS_KEPT);
    purge(READS_KEPT, 0);
    assertEquals(List.of(10L, 20L, 30L), ids());

    clock.advance(1);
    purge(READS_KEPT, 0);
    assertEquals(List.of(30L), ids());
  }

  @Test
  void nothingGoesWhileNoClockIsConfirmed() throws Exception {
    row(10, T0, "acme", true);
    row(20, "globex", false);
    seal();
    clock.advance(READS_KEPT + 1);
    clock.confirm(false);
    purge(READS_KEPT, 0);
    assertEquals(List.of(10L, 20L), ids());

    clock.confirm(true);
    purge(READS_KEPT, 0);
    assertEquals(List.of(20L), ids());
  }

  @Test
  void writesAreKeptForTheirOwnTimeAndZeroKeepsForEver() throws Exception {
    oldRows();
    clock.advance(10);
    purge(0, 0);
    assertEquals(5 + 1, ids().size());
    purge(READS_KEPT, 0);
    assertEquals(List.of(40L, 60L), ids());
    purge(READS_KEPT, WRITES_KEPT);
    assertEquals(List.of(40L, 60L), ids());
    clock.advance(WRITES_KEPT);
    row(70, "globex", false);
    purge(READS_KEPT, WRITES_KEPT);
    assertEquals(List.of(70L), ids());
  }

  @Test
  void whatIsNotSealedStaysHoweverOld() throws Exception {
    row(10, "acme", true);
    clock.advance(READS_KEPT * 2);
    row(20, "globex", false);
    purge(READS_KEPT, 0);

    assertEquals(List.of(10L, 20L), ids());
  }

  @Test
  void theNewestRowOfAllStaysSoThatItsIdIsNotGivenAgain() throws Exception {
    row(10, "acme", true);
    seal();
    clock.advance(READS_KEPT * 2);
    purge(READS_KEPT, 0);

    assertEquals(List.of(10L), ids());
  }

  @Test
  void theChainIsProvenWithoutThePurgedRows() throws Exception {
    oldRows();
    purge(READS_KEPT + 5, 0);
    SealService.Report partly = verify("acme", true, 0);
    assertEquals(2, partly.batches());
    assertEquals(1, partly.purgedBatches());
    assertEquals(1, partly.rows());
    assertNull(partly.fault());

    clock.advance(10);
    purge(READS_KEPT, 0);
    SealService.Report wholly = verify("acme", true, 0);
    assertEquals(2, wholly.purgedBatches());
    assertNull(wholly.fault());
    assertEquals(partly.head(), wholly.head());
    assertEquals(
        List.of(32L, 32L),
        integers(
            "SELECT LENGTH(row_digests) FROM audit_seal"
                + " WHERE org_id = 'acme' AND is_read = 1"));
  }

  @Test
  void thePurgedPartOfAChainCannotBeAltered() throws Exception {
    oldRows();
    clock.advance(10);
    purge(READS_KEPT, 0);

    row(15, "acme", true);
    assertEquals(List.of("1 15 added"), findings("acme", true));
    run("DELETE FROM audit WHERE id = 15");
    run("UPDATE audit_seal SET newest_at = 1 WHERE org_id = 'acme' AND is_read = 1 AND batch = 2");
    assertEquals(List.of("2 null seal"), findings("acme", true));
    run("DELETE FROM audit_seal WHERE org_id = 'acme' AND is_read = 1 AND batch = 1");
    assertEquals("1 null gap", findings("acme", true).get(0));
  }

  @Test
  void theChainGoesOnAfterAllOfItIsPurged() throws Exception {
    oldRows();
    clock.advance(10);
    purge(READS_KEPT, 0);
    row(70, "acme", true);
    seal();

    SealService.Report report = verify("acme", true, 0);
    assertEquals(3, report.batches());
    assertEquals(1, report.rows());
    assertNull(report.fault());
  }

  @Test
  void rowsThatAreNotAsSealedAreKeptAsEvidenceAndOthersGo() throws Exception {
    oldRows();
    row(70, "globex", true);
    row(80, "globex", false);
    seal();
    clock.advance(READS_KEPT * 2);
    run("UPDATE audit SET detail = 'x' WHERE id = 20");
    TrailRetention retention = retention(READS_KEPT, 0);

    round(retention::step);
    round(retention::step);

    assertEquals(List.of(10L, 20L, 30L, 40L, 50L, 60L, 80L), ids());
  }

  @Test
  void twoWhoPurgeAtOnceDoNotHarmEachOther() throws Exception {
    for (long batch = 0; batch < 5; batch++) {
      rows(1_000 * batch + 1, 1_000 * batch + 50, "acme", true);
      row(1_000 * batch + 60, "globex", false);
      seal();
    }
    clock.advance(READS_KEPT + 1);
    TrailRetention one = retention(READS_KEPT, 0);
    TrailRetention other = retention(READS_KEPT, 0);
    for (int i = 0; i < 10; i++) {
      Future<Boolean> mine = one.step();
      Future<Boolean> theirs = other.step();
      await(mine);
      await(theirs);
    }

    assertFalse(await(one.step()));
    assertEquals(5, ids().size());
    assertEquals(5, verify("acme", true, 0).purgedBatches());
    assertEquals(List.of(), findings("acme", true));
    assertTrue(findings("globex", false).isEmpty());
  }

  @Test
  void purgingWhileVerifyingIsNoFault() throws Exception {
    for (long batch = 0; batch < 20; batch++) {
      rows(1_000 * batch + 1, 1_000 * batch + 200, "acme", true);
      seal();
    }
    row(90_000, "globex", false);
    clock.advance(READS_KEPT + 1);
    TrailRetention retention = retention(READS_KEPT, 0);
    Future<Boolean> purging = retention.step();
    int runs = 0;
    while (!purging.isComplete() || await(purging)) {
      if (purging.isComplete()) {
        purging = retention.step();
      }
      assertNull(verify("acme", true, 0).fault());
      assertNull(verify("acme", true, 7).fault());
      runs++;
    }

    assertTrue(runs > 1, runs + " runs");
    assertEquals(20, verify("acme", true, 0).purgedBatches());
  }
}
