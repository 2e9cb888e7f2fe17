package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Page;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Trails whose reads are rows and segments, on a real store. Engines plug in by subclassing. */
abstract class ReadSegmentsTest extends TrailFixture {
  private static final long KEPT = 1_000_000;
  private static final String SEGMENTS = " audit_read_segment WHERE org_id = 'acme'";

  private int batches;

  private AuditRow read(String org, String actor, String detail) {
    return new AuditRow(clock.millis(), org, actor, "vm_capacity_get", "c", detail);
  }

  Future<Void> flush(Database store, List<AuditRow> rows) {
    AuditStore reads = new AuditStore(store);
    return reads.insertReads("arb_" + ++batches, reads.encoded(rows), List.of(), clock.millis());
  }

  /** This many reads of acme in one commit. */
  private void flush(int count) throws Exception {
    await(flush(database, Collections.nCopies(count, read("acme", "token:a", "x"))));
  }

  /** All stored reads of a trail, by details, oldest first. */
  final List<String> fill(Database store, Random random, String name, int commits)
      throws Exception {
    List<String> ofAcme = new ArrayList<>();
    List<Future<Void>> under = new ArrayList<>();
    int number = 0;
    for (int commit = 0; commit < commits; commit++) {
      List<AuditRow> rows = new ArrayList<>();
      for (int i = random.nextInt(3) == 0 ? random.nextInt(60) : random.nextInt(6); i >= 0; i--) {
        String org = random.nextInt(3) > 0 ? "acme" : "globex";
        String actor = List.of("token:a", "token:b", "member:amy").get(random.nextInt(3));
        String detail = name + ' ' + org + ' ' + actor + ' ' + number++;
        rows.add(read(org, actor, detail));
        if (org.equals("acme")) {
          ofAcme.add(detail);
        }
      }
      boolean isWrite = random.nextInt(4) == 0;
      under.add(
          isWrite
              ? store.commit(rows.stream().map(AuditStore::insert).toList())
              : flush(store, rows));
    }
    await(Future.all(under));
    return ofAcme;
  }

  final List<TrailEntry> pages(Optional<String> actor, int size) throws Exception {
    TrailStore trail = new TrailStore(database);
    List<TrailEntry> all = new ArrayList<>();
    long before = Long.MAX_VALUE;
    while (true) {
      Page<TrailEntry> page =
          await(
              trail.listEntries("acme", actor, new TrailQuery(true, OptionalInt.of(size), before)));
      all.addAll(page.items());
      if (!page.more()) {
        return all;
      }
      assertEquals(size, page.items().size());
      before = page.last().id();
    }
  }

  /** Makes ids continue after one. */
  void skipTo(long id) throws Exception {
    row(id, "globex", false);
  }

  private static List<String> newestFirst(List<String> details, Predicate<String> which) {
    List<String> some = new ArrayList<>(details.stream().filter(which).toList());
    Collections.reverse(some);
    return some;
  }

  private static List<String> details(List<TrailEntry> entries) {
    return entries.stream().map(TrailEntry::detail).toList();
  }

  @Test
  void pagesOfAnySizeMakeUpRowsAndSegmentsInTheirOrder() throws Exception {
    for (int seed = 0; seed < 3; seed++) {
      run("DELETE FROM audit");
      run("DELETE FROM audit_read_segment");
      List<String> trail = fill(database, new Random(seed), "one", 120);
      assertTrue(integers("SELECT COUNT(*) FROM" + SEGMENTS).get(0) > 20);
      // A page of one costs a query per entry, so only one world is read that way.
      for (int size : seed == 0 ? new int[] {1, 7, 100, 500} : new int[] {7, 500}) {
        assertEquals(newestFirst(trail, all -> true), details(pages(Optional.empty(), size)));
        assertEquals(
            newestFirst(trail, detail -> detail.contains(" token:b ")),
            details(pages(Optional.of("token:b"), size)));
      }
      assertEquals(List.of(), pages(Optional.of("token:c"), 10));
    }
  }

  @Test
  void pagesOfAnActorGoOnOverWhatIsSealedHoweverFarApartItIs() throws Exception {
    List<String> trail = new ArrayList<>();
    Random random = new Random(11);
    for (int part = 0; part < 4; part++) {
      // The last of the first stretch of ids, and the first of the next, are in one segment.
      skipTo(part * 200_000L + 65_500);
      trail.addAll(fill(database, random, "part " + part, 40));
      if (part < 3) {
        seal();
      }
    }
    assertTrue(integers("SELECT COUNT(*) FROM audit_read_actor").get(0) > 12);
    for (String actor : List.of("token:a", "token:b", "member:amy")) {
      List<String> expected = newestFirst(trail, detail -> detail.contains(" " + actor + " "));
      for (int size : actor.equals("token:b") ? new int[] {1, 7, 100} : new int[] {7, 500}) {
        assertEquals(expected, details(pages(Optional.of(actor), size)), actor + " by " + size);
      }
    }
  }

  @Test
  void aSealTellsInWhichStretchesAnActorReadAndAPurgeForgetsIt() throws Exception {
    for (String actor : List.of("token:a", "token:b", "token:a")) {
      await(flush(database, Collections.nCopies(10, read("acme", actor, "x"))));
      seal();
      skipTo(integers("SELECT MAX(id) FROM audit").get(0) + 100_000);
      seal();
    }
    String stretches = "SELECT stretch FROM audit_read_actor WHERE org_id = 'acme' AND actor = ";
    assertEquals(List.of(0L, 3L), integers(stretches + "'token:a' ORDER BY stretch"));
    assertEquals(List.of(1L), integers(stretches + "'token:b'"));

    clock.advance(KEPT + 1);
    purge();
    assertEquals(List.of(), pages(Optional.of("token:a"), 10));
    assertEquals(
        List.of(3L), integers("SELECT stretch FROM audit_read_actor WHERE org_id = 'acme'"));
  }

  @Test
  void aTrailWithoutReadsHasNoneOfThem() throws Exception {
    flush(50);
    await(database.commit(List.of(AuditStore.insert(read("acme", "token:a", "write")))));

    Page<TrailEntry> page =
        await(
            new TrailStore(database)
                .listEntries(
                    "acme",
                    Optional.empty(),
                    new TrailQuery(false, OptionalInt.of(10), Long.MAX_VALUE)));
    assertEquals(List.of("write"), details(page.items()));
  }

  @Test
  void whatIsStoredAfterASegmentHasAGreaterId() throws Exception {
    flush(500);
    await(database.commit(List.of(AuditStore.insert(read("acme", "token:a", "write")))));
    flush(3);
    flush(500);

    List<Long> ids = pages(Optional.empty(), 500).stream().map(TrailEntry::id).toList();
    assertEquals(1_004, ids.stream().distinct().count());
    assertEquals(ids.get(0), integers("SELECT MAX(id) FROM audit").get(0), "a row's is the last");
    assertTrue(ids.get(503) > integers("SELECT MIN(last_id) FROM" + SEGMENTS).get(0));
  }

  @Test
  void fewReadsOfATrailAreRowsAndManyASegment() throws Exception {
    for (int count = 1; count <= 3; count++) {
      flush(count);
    }
    assertEquals(List.of(6L), integers("SELECT COUNT(*) FROM audit"));
    assertEquals(List.of(0L), integers("SELECT COUNT(*) FROM" + SEGMENTS));
    flush(1_024);
    assertEquals(List.of(7L), integers("SELECT COUNT(*) FROM audit"));
    assertEquals(List.of(1_023L), integers("SELECT entry_count FROM" + SEGMENTS));
  }

  @Test
  void readsOfSegmentsAreSealedAndVerifiedAsRowsAre() throws Exception {
    List<String> trail = fill(database, new Random(3), "one", 200);
    seal();

    assertEquals(List.of(), findings("acme", true));
    assertEquals(List.of(), findings("acme", false));
    SealService.Report reads = verify("acme", true, 0);
    assertEquals(trail.size(), reads.rows() + verify("acme", false, 0).rows());
    assertEquals(2, reads.batches(), "a thousand rows of a batch at most");
    fill(database, new Random(4), "two", 50);
    seal();
    assertEquals(List.of(), findings("acme", true));
    assertEquals(3, verify("acme", true, 0).batches());
  }

  @Test
  void manySegmentsAreSealedAStepAtATime() throws Exception {
    for (int i = 0; i < 40; i++) {
      flush(600);
    }
    seal();

    long rows = 0;
    for (Long after = 0L; after != null; ) {
      SealService.Report report = verify("acme", true, after);
      assertNull(report.fault());
      rows += report.rows();
      after = report.next();
    }
    assertEquals(24_000, rows);
  }

  @Test
  void aSegmentThatWasChangedDeletedOrDamagedIsFound() throws Exception {
    flush(100);
    seal();
    long first = integers("SELECT first_id FROM" + SEGMENTS).get(0);
    for (String change :
        List.of(
            "UPDATE" + SEGMENTS.replace(" WHERE", " SET body = skips WHERE"),
            "UPDATE" + SEGMENTS.replace(" WHERE", " SET org_id = 'globex' WHERE"),
            "UPDATE" + SEGMENTS.replace(" WHERE", " SET skips = '50:1000' WHERE"),
            "DELETE FROM" + SEGMENTS)) {
      if (change.contains("body")) {
        await(
            database.commit(
                List.of(
                    Statement.of(
                        "UPDATE" + SEGMENTS.replace(" WHERE", " SET body = ? WHERE"),
                        (Object) new byte[] {1, 2, 3}))));
      } else {
        run(change);
      }
      assertFalse(findings("acme", true).isEmpty(), change);
      assertTrue(findings("acme", true).get(0).endsWith("missing"), change);
      run("DELETE FROM audit_read_segment");
      run("DELETE FROM audit");
      run("DELETE FROM audit_seal");
      run("DELETE FROM audit_sealed");
      sealer = newSealer();
      flush(100);
      seal();
    }
    assertTrue(first > 0);
  }

  private long sealed() throws Exception {
    return integers("SELECT CAST(SUM(row_count) AS BIGINT) FROM audit_seal").get(0);
  }

  private void isLostForEverAndHoldsNothingUp(String damage) throws Exception {
    flush(100);
    flush(100);
    long first = integers("SELECT MIN(first_id) FROM audit_read_segment").get(0);
    run("UPDATE audit_read_segment SET " + damage + " WHERE first_id = " + first);
    seal();
    assertEquals(1, findings("acme", true).size());
    assertTrue(findings("acme", true).get(0).endsWith("missing"));
    // One read of each flush is a row; the 99 of the damaged segment are one entry.
    assertEquals(102, sealed());

    flush(100);
    seal();
    assertEquals(202, sealed());
    purge();
    assertTrue(findings("acme", true).get(0).endsWith("missing"));
  }

  @Test
  void aSegmentWhoseBytesWereDamagedBeforeItWasSealedIsMissingForEver() throws Exception {
    isLostForEverAndHoldsNothingUp("body = body || body");
  }

  @Test
  void aSegmentThatHadAnotherNumberOfEntriesBeforeItWasSealedIsMissingForEver() throws Exception {
    isLostForEverAndHoldsNothingUp("entry_count = entry_count + 1");
  }

  @Test
  void aSegmentThatHadAnotherLastIdBeforeItWasSealedIsMissingForEver() throws Exception {
    isLostForEverAndHoldsNothingUp("last_id = last_id - 1");
  }

  @Test
  void aPageOverADamagedSegmentSaysWhichItIs() throws Exception {
    flush(10);
    await(
        database.commit(
            List.of(Statement.of("UPDATE audit_read_segment SET body = ?", (Object) new byte[9]))));

    ExecutionException e =
        assertThrows(ExecutionException.class, () -> pages(Optional.empty(), 10));
    ReadSegment.DamagedSegmentException damaged =
        assertInstanceOf(ReadSegment.DamagedSegmentException.class, e.getCause());
    assertTrue(String.valueOf(damaged.getMessage()).contains("first_id"), damaged.getMessage());
  }

  private void purge() throws Exception {
    TrailRetention retention =
        new TrailRetention(vertx, database, new AuditConfig(1, KEPT, 0, 0, 1), clock);
    round(retention::step);
  }

  @Test
  void aSegmentGoesWithItsBatchesAndIsTrimmedWhereOneEndsInIt() throws Exception {
    flush(600);
    flush(600);
    clock.advance(10);
    flush(600);
    seal();
    row(1_000_000, "globex", false);
    seal();
    List<TrailEntry> before = pages(Optional.empty(), 500);
    clock.advance(KEPT - 9);
    purge();

    assertEquals(before.subList(0, 800), pages(Optional.empty(), 500));
    assertEquals(List.of(200L - 1, 600L - 1), counts());
    assertEquals(List.of(), findings("acme", true));
    assertEquals(1, verify("acme", true, 0).purgedBatches());

    clock.advance(10);
    purge();
    assertEquals(List.of(), pages(Optional.empty(), 500));
    assertEquals(List.of(), counts());
    assertEquals(List.of(), findings("acme", true));
  }

  private List<Long> counts() throws Exception {
    return integers("SELECT entry_count FROM" + SEGMENTS + " ORDER BY first_id");
  }

  @Test
  void twoWhoPurgeSegmentsAtOnceDoNotHarmEachOther() throws Exception {
    for (int i = 0; i < 10; i++) {
      flush(300);
      seal();
    }
    row(1_000_000, "globex", false);
    seal();
    clock.advance(KEPT + 1);
    List<TrailRetention> both = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      both.add(new TrailRetention(vertx, database, new AuditConfig(1, KEPT, 0, 0, 1), clock));
    }
    for (int i = 0; i < 20; i++) {
      Future<Boolean> mine = both.get(0).step();
      Future<Boolean> theirs = both.get(1).step();
      await(mine);
      await(theirs);
    }

    assertEquals(List.of(), pages(Optional.empty(), 500));
    assertEquals(10, verify("acme", true, 0).purgedBatches());
    assertEquals(List.of(), findings("acme", true));
  }

  @Test
  void whatIsCommittedWhileAPageIsReadIsOfLaterPagesWhole() throws Exception {
    AuditRow read = new AuditRow(T0, "acme", "token:a", "vm_capacity_get", "c", "");
    AuditRow write = new AuditRow(T0, "acme", "token:a", "vm_capacity_put", "c", "");
    AuditStore store = new AuditStore(database);
    await(store.insertReads("first", tenOf(store, read), List.of(), T0));
    List<Long> before = idsOfPage(database);
    Database meanwhile =
        new ForwardingDatabase(database) {
          private boolean isDone;

          @Override
          public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
            Future<List<T>> rows = super.read(sql, parameters, mapper);
            if (isDone || !sql.contains("UNION ALL")) {
              return rows;
            }
            isDone = true;
            return rows.compose(
                found ->
                    super.commit(List.of(AuditStore.insert(write)), List.of())
                        .compose(
                            written ->
                                store.insertReads("second", tenOf(store, read), List.of(), T0))
                        .map(flushed -> found));
          }
        };
    assertEquals(before, idsOfPage(meanwhile), "neither the write nor the reads after it");
    assertEquals(21, idsOfPage(database).size());
  }

  private static List<Statement> tenOf(AuditStore store, AuditRow read) {
    return store.encoded(Collections.nCopies(10, read));
  }

  private List<Long> idsOfPage(Database store) throws Exception {
    return await(
            new TrailStore(store)
                .listEntries(
                    "acme",
                    Optional.empty(),
                    new TrailQuery(true, OptionalInt.of(500), Long.MAX_VALUE)))
        .items()
        .stream()
        .map(TrailEntry::id)
        .toList();
  }
}
