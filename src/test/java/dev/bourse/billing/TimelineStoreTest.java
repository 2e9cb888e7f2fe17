package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.billing.Usage.ChangePoint;
import dev.bourse.billing.Usage.Held;
import dev.bourse.billing.Usage.Line;
import dev.bourse.billing.Usage.Timeline;
import dev.bourse.capacity.Activity;
import dev.bourse.capacity.ActivityRows;
import dev.bourse.capacity.CapacityStore;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.store.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reads for a bill, compared with the events that were stored. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class TimelineStoreTest extends StoreFixture {
  private static final int WORLDS = 20;
  private static final long HOUR = Usage.HOUR_MILLIS;
  private static final long T0 = Sample.T0 / HOUR * HOUR;

  /** Length of a world: several pieces. */
  private static final int HOURS = 30;

  /** Clusters of one world; more than one read covers. */
  private static final List<String> CLUSTERS =
      List.of("c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11", "c12");

  private TimelineStore timelines;

  private final List<Statement> rows = new ArrayList<>();
  private final Map<String, List<Held>> held = new HashMap<>();
  private final Map<String, List<ChangePoint>> ceilings = new HashMap<>();
  private final List<ChangePoint> prices = new ArrayList<>();
  private int allocations;

  @BeforeEach
  void makeClusters() throws Exception {
    timelines = new TimelineStore(database);
    List<Statement> clusters = new ArrayList<>();
    for (String name : CLUSTERS) {
      clusters.addAll(
          CapacityStore.insert(
              Cluster.created(name, "acme", "h100", Cluster.Kind.VM, Cluster.Posture.MARKET),
              T0 - HOUR));
    }
    await(database.commit(clusters));
  }

  private void declared(String cluster, long atMillis, long cents) {
    ceilings
        .computeIfAbsent(cluster, none -> new ArrayList<>())
        .add(new ChangePoint(atMillis, cents));
    rows.add(
        ActivityRows.insert(
            new Activity("x", new ClusterEvent.Declared(8, cents)), cluster, atMillis));
  }

  private void priced(long atMillis, @Nullable Long cents) {
    prices.add(new ChangePoint(atMillis, cents));
    rows.add(
        Statement.of(
            "INSERT INTO price_point (pool, ts, clearing_cents, admission_cents, cents_millis,"
                + " priced_millis) VALUES ('h100', ?, ?, NULL, 0, 0)",
            atMillis,
            cents));
  }

  /**
   * @param toMillis null for a node that is still held: at most one of each cluster
   */
  private void held(String cluster, long fromMillis, @Nullable Long toMillis) {
    held.computeIfAbsent(cluster, none -> new ArrayList<>()).add(new Held(8, fromMillis, toMillis));
    rows.add(
        Statement.of(
            "INSERT INTO allocation (allocation_id, cluster, node_id, slot, state, granted_at,"
                + " active_at, grant_ceiling_cents, pinned, nomination, key_ids, reclaim_at,"
                + " gone_at) VALUES (?, ?, ?, 0, ?, ?, ?, 1, 0, 0, '', ?, ?)",
            "h" + allocations++,
            cluster,
            nodeId(CLUSTERS.indexOf(cluster)),
            toMillis == null ? "ACTIVE" : "RECLAIMING",
            fromMillis,
            fromMillis,
            toMillis,
            toMillis));
  }

  private Timeline all(String cluster) {
    return new Timeline(
        cluster,
        held.getOrDefault(cluster, List.of()),
        prices,
        ceilings.getOrDefault(cluster, List.of()));
  }

  private List<TimelineStore.Piece> pieces(
      TimelineStore.Clusters clusters, long fromMillis, long toMillis) throws Exception {
    List<TimelineStore.Piece> pieces = new ArrayList<>();
    await(timelines.read(clusters, fromMillis, toMillis, pieces::add));
    return pieces;
  }

  /** Returns the lines of each cluster in the order of the pieces. */
  private static Map<String, List<Line>> lines(List<TimelineStore.Piece> pieces) {
    Map<String, List<Line>> lines = new TreeMap<>();
    for (TimelineStore.Piece piece : pieces) {
      assertEquals("acme", piece.orgId());
      for (Line line : piece.lines()) {
        lines.computeIfAbsent(line.cluster(), cluster -> new ArrayList<>()).add(line);
      }
    }
    return lines;
  }

  private Map<String, List<Line>> expected(long fromMillis, long toMillis) {
    Map<String, List<Line>> expected = new TreeMap<>();
    for (String cluster : CLUSTERS) {
      List<Line> lines = Usage.lines(all(cluster), fromMillis, toMillis);
      if (!lines.isEmpty()) {
        expected.put(cluster, lines);
      }
    }
    return expected;
  }

  @Test
  void theBillIsThatOfAllThatWasDeclaredHoweverLongTheTime() throws Exception {
    long first = new Random().nextLong();
    int lines = 0;
    for (long seed = first; seed < first + WORLDS; seed++) {
      Random random = new Random(seed);
      makeUp(random);
      for (int i = 0; i < 6; i++) {
        long from = T0 - 2 * HOUR + random.nextInt(HOURS) * HOUR;
        from += random.nextBoolean() ? 0 : random.nextInt(3_600_000);
        long to = from + 1 + random.nextInt(i < 3 ? 2 * 3_600_000 : HOURS * 3_600_000);
        Map<String, List<Line>> expected = expected(from, to);
        assertEquals(
            expected,
            lines(pieces(TimelineStore.Clusters.ofOrgs(List.of("acme", "nobody")), from, to)),
            "seed " + seed);
        assertEquals(
            expected,
            lines(pieces(TimelineStore.Clusters.named(CLUSTERS), from, to)),
            "seed " + seed);
        lines += expected.values().stream().mapToInt(List::size).sum();
      }
    }
    assertTrue(lines > WORLDS * CLUSTERS.size(), lines + " lines");
  }

  @Test
  void whatIsShownOfAnHourIsWhatWasDeclared() throws Exception {
    long first = new Random().nextLong();
    for (long seed = first; seed < first + WORLDS; seed++) {
      makeUp(new Random(seed));
      for (int hour = 0; hour < 4; hour++) {
        long from = T0 + hour * HOUR;
        Optional<Timeline> shown = await(timelines.findDeclared("c1", from, from + HOUR));
        assertEquals(
            joined(Usage.spans(all("c1"), from, from + HOUR)),
            joined(shown.map(of -> Usage.spans(of, from, from + HOUR)).orElse(List.of())),
            "seed " + seed);
      }
    }
  }

  @Test
  void nothingIsShownOfAnHourThatIsYetToCome() throws Exception {
    held("c1", T0, null);
    priced(T0, 200L);
    declared("c1", T0, 300);
    await(database.commit(rows));
    long now = T0 + HOUR / 2;
    for (long hour = T0; hour < T0 + 6 * HOUR; hour += HOUR) {
      Optional<Timeline> shown = await(timelines.findDeclared("c1", hour, now));
      assertEquals(hour < now, shown.isPresent(), "from " + hour);
    }
  }

  /** Joins consecutive spans that differ only in time. */
  private static List<Usage.Span> joined(List<Usage.Span> spans) {
    List<Usage.Span> joined = new ArrayList<>();
    for (Usage.Span span : spans) {
      Usage.Span last = joined.isEmpty() ? null : joined.get(joined.size() - 1);
      if (last != null
          && last.toMillis() == span.fromMillis()
          && last.gpus() == span.gpus()
          && last.clearingCents() == span.clearingCents()
          && last.ceilingCents() == span.ceilingCents()) {
        joined.remove(joined.size() - 1);
        joined.add(
            new Usage.Span(
                last.fromMillis(),
                span.toMillis(),
                span.gpus(),
                span.clearingCents(),
                span.ceilingCents(),
                span.lockCents()));
      } else {
        joined.add(span);
      }
    }
    return joined;
  }

  @Test
  void howeverOftenAnOrganizationDeclaresItsBillIsReadFromWhatBearsOnIt() throws Exception {
    held("c1", T0, null);
    priced(T0, 200L);
    priced(T0 + HOUR / 2, 150L);
    for (int i = 0; i < 20_000; i++) {
      declared("c1", T0 + 100L * i, 250L + i % 50);
    }
    declared("c1", T0 + HOUR / 2 + 1, 100);
    await(database.commit(rows));

    Timeline timeline =
        pieces(TimelineStore.Clusters.ofOrgs(List.of("acme")), T0, T0 + HOUR).get(0).timeline();
    assertTrue(timeline.ceilings().size() < 5, timeline.ceilings().size() + " ceilings were read");
    assertEquals(Usage.lines(all("c1"), T0, T0 + HOUR), Usage.lines(timeline, T0, T0 + HOUR));
  }

  @Test
  void howeverLongTheTimeSinceTheLastPostingFewHoursAreReadAtOnce() throws Exception {
    int hours = 24 * 400;
    held("c1", T0, null);
    priced(T0, 200L);
    for (int i = 0; i < hours; i++) {
      declared("c1", T0 + HOUR * i + 1, 100L + i % 2);
    }
    await(database.commit(rows));

    List<TimelineStore.Piece> pieces =
        pieces(TimelineStore.Clusters.ofOrgs(List.of("acme")), 0, T0 + hours * HOUR);
    assertEquals(expected(T0, T0 + hours * HOUR), lines(pieces));
    for (TimelineStore.Piece piece : pieces) {
      int read = piece.timeline().ceilings().size();
      assertTrue(read <= 8 + 2, read + " ceilings were read at once");
    }
  }

  @Test
  void whoHasReadEnoughIsToldNoMore() throws Exception {
    held("c1", T0, null);
    held("c2", T0, null);
    priced(T0, 200L);
    declared("c1", T0 - 1, 300);
    declared("c2", T0 - 1, 300);
    await(database.commit(rows));

    List<TimelineStore.Piece> told = new ArrayList<>();
    await(
        timelines.read(
            TimelineStore.Clusters.ofOrgs(List.of("acme")),
            T0,
            T0 + 100 * HOUR,
            new TimelineStore.Reader() {
              @Override
              public void read(TimelineStore.Piece piece) {
                told.add(piece);
              }

              @Override
              public boolean wantsMore() {
                return told.isEmpty();
              }
            }));
    assertEquals(
        List.of("c1", "c2"), told.stream().map(piece -> piece.timeline().cluster()).toList());
    assertEquals(1, told.stream().mapToLong(TimelineStore.Piece::toMillis).distinct().count());
  }

  private void makeUp(Random random) throws Exception {
    held.clear();
    prices.clear();
    ceilings.clear();
    rows.clear();
    for (String table : List.of("activity", "price_point", "allocation")) {
      rows.add(Statement.of("DELETE FROM " + table));
    }
    long at = T0 - HOUR;
    for (int i = random.nextInt(100); i > 0; i--) {
      at += 1L + random.nextInt(1_200_000);
      priced(at, random.nextInt(6) == 0 ? null : Long.valueOf(100L + 50L * random.nextInt(5)));
    }
    for (String cluster : CLUSTERS) {
      // Some at the same moment, of which the last counts.
      at = T0 - HOUR;
      for (int i = random.nextInt(60); i > 0; i--) {
        at += random.nextInt(3) == 0 ? 0 : random.nextInt(2_400_000);
        declared(cluster, at, 100L + 50L * random.nextInt(5));
      }
      for (int i = random.nextInt(4); i > 0; i--) {
        long from = T0 - HOUR + 1_000L * random.nextInt(HOURS * 3_600);
        held(cluster, from, i == 1 ? null : Long.valueOf(from + random.nextInt(30_000_000)));
      }
    }
    await(database.commit(rows));
  }
}
