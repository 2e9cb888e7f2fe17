package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.StoreFixture;
import dev.bourse.core.Page;
import dev.bourse.store.Statement;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Trails on disk: pages, exports, and the cost of a page. */
class TrailStoreTest extends StoreFixture {
  private static final String ACTOR = "token:abc";

  /** Rows of two organizations and the platform, reads and writes, in a random order. */
  private List<TrailEntry> fill(long seed, int count, boolean reads) throws Exception {
    Random random = new Random(seed);
    List<Statement> statements = new ArrayList<>();
    List<TrailEntry> expected = new ArrayList<>();
    for (int id = 1; id <= count; id++) {
      String org = List.of("acme", "globex", Trails.PLATFORM).get(random.nextInt(3));
      String actor = random.nextBoolean() ? ACTOR : "member:amy";
      boolean isRead = random.nextInt(3) == 0;
      statements.add(
          Statement.of(
              "INSERT INTO audit (ts, org_id, actor, action, subject, detail, is_read)"
                  + " VALUES (?, ?, ?, 'act', 'sub', ?, ?)",
              1_000L + id,
              org,
              actor,
              "n=" + id,
              isRead));
      if (org.equals("acme") && (reads || !isRead)) {
        expected.add(new TrailEntry(id, 1_000L + id, actor, "act", "sub", "n=" + id));
      }
    }
    await(database.commit(statements));
    expected.sort(Comparator.comparingLong(TrailEntry::id).reversed());
    return expected;
  }

  private List<TrailEntry> pages(Optional<String> actor, boolean reads, int size) throws Exception {
    TrailStore store = new TrailStore(database);
    List<TrailEntry> all = new ArrayList<>();
    long before = Long.MAX_VALUE;
    while (true) {
      Page<TrailEntry> page =
          await(
              store.listEntries(
                  "acme", actor, new TrailQuery(reads, OptionalInt.of(size), before)));
      all.addAll(page.items());
      if (!page.more()) {
        return all;
      }
      assertEquals(size, page.items().size());
      before = all.get(all.size() - 1).id();
    }
  }

  @Test
  void pagesOfAnySizeMakeUpTheTrail() throws Exception {
    for (boolean reads : new boolean[] {false, true}) {
      await(database.commit(List.of(Statement.of("DELETE FROM audit"))));
      List<TrailEntry> trail = fill(7, 400, reads);
      List<TrailEntry> ofActor =
          trail.stream().filter(entry -> entry.actor().equals(ACTOR)).toList();
      for (int size : new int[] {1, 2, 7, 100, trail.size(), 500}) {
        assertEquals(trail, pages(Optional.empty(), reads, size));
        assertEquals(ofActor, pages(Optional.of(ACTOR), reads, size));
      }
    }
  }

  @Test
  void anExportIsTheTrailFromTheQuerysEntryDownAndNothingThatComesMeanwhile() throws Exception {
    List<TrailEntry> trail = fill(11, 1_200, true);
    long before = trail.get(10).id();
    TrailExport export =
        new TrailExport(
            new TrailStore(database),
            "acme",
            TrailText.CSV,
            new TrailQuery(true, OptionalInt.empty(), before));
    StringBuilder text = new StringBuilder();
    int pieces = 0;
    while (true) {
      Optional<Buffer> piece = await(export.next());
      if (piece.isEmpty()) {
        break;
      }
      pieces++;
      text.append(piece.get());
      await(
          database.commit(
              List.of(AuditStore.insert(new AuditRow(1, "acme", ACTOR, "act", "sub", "late")))));
    }
    List<String> lines = text.toString().lines().toList();
    assertEquals("id,ts,actor,action,subject,detail", lines.get(0));
    assertEquals(
        trail.subList(11, trail.size()).stream().map(entry -> "n=" + entry.id()).toList(),
        lines.stream().skip(1).map(line -> line.substring(line.lastIndexOf(',') + 1)).toList());
    assertEquals((lines.size() - 2) / TrailExport.ENTRIES_PER_PIECE + 1, pieces);
    assertTrue(await(export.next()).isEmpty(), "it stays at its end");
  }

  @Test
  void anExportHonoursALimitAndAnEmptyOneIsItsHeadAlone() throws Exception {
    fill(13, 900, true);
    for (int limit : new int[] {1, 100, 101, 250}) {
      TrailExport export =
          new TrailExport(
              new TrailStore(database),
              "acme",
              TrailText.NDJSON,
              new TrailQuery(true, OptionalInt.of(limit), Long.MAX_VALUE));
      int lines = 0;
      for (Optional<Buffer> piece = await(export.next());
          piece.isPresent();
          piece = await(export.next())) {
        lines += (int) piece.get().toString().lines().count();
      }
      assertEquals(limit, lines);
    }
    TrailQuery none = new TrailQuery(false, OptionalInt.empty(), 1);
    TrailStore store = new TrailStore(database);
    assertTrue(await(new TrailExport(store, "acme", TrailText.NDJSON, none).next()).isEmpty());
    TrailExport csv = new TrailExport(store, "acme", TrailText.CSV, none);
    assertEquals("id,ts,actor,action,subject,detail\r\n", await(csv.next()).get().toString());
    assertTrue(await(csv.next()).isEmpty());
  }

  @Test
  void aPageIsReadFromItsOwnIndexRangesInOrder() throws Exception {
    for (boolean reads : new boolean[] {false, true}) {
      for (boolean ofActor : new boolean[] {false, true}) {
        String sql = TrailStore.page(ofActor, reads);
        int marks = (int) sql.chars().filter(c -> c == '?').count();
        List<String> plan =
            await(
                database.read(
                    "EXPLAIN QUERY PLAN " + sql,
                    Collections.nCopies(marks, 1),
                    row -> row.text("detail")));
        String index = ofActor ? "audit_of_actor (actor=?" : "audit_of_org (org_id=?";
        assertEquals(
            reads ? 2 : 1,
            plan.stream()
                .filter(
                    step ->
                        step.startsWith(
                            "SEARCH audit USING INDEX " + index + " AND is_read=? AND id<?)"))
                .count(),
            plan.toString());
        assertFalse(plan.toString().contains("SCAN audit"), plan.toString());
        if (!reads) {
          assertFalse(plan.toString().contains("B-TREE"), plan.toString());
        }
      }
    }
  }
}
