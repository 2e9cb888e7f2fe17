package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.billing.Usage.ChangePoint;
import dev.bourse.billing.Usage.Held;
import dev.bourse.billing.Usage.Timeline;
import dev.bourse.capacity.Activity;
import dev.bourse.capacity.ActivityRows;
import dev.bourse.capacity.CapacityStore;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.store.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is read for a bill, against what happened. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class UsageStoreTest extends StoreFixture {
  private static final int WORLDS = 40;
  private static final long HOUR = Usage.HOUR_MILLIS;
  private static final long T0 = Sample.T0 / HOUR * HOUR;

  private UsageStore usage;

  private final List<Statement> rows = new ArrayList<>();
  private final List<Held> held = new ArrayList<>();
  private final List<ChangePoint> prices = new ArrayList<>();
  private final List<ChangePoint> ceilings = new ArrayList<>();

  @BeforeEach
  void makeCluster() throws Exception {
    usage = new UsageStore(database);
    await(database.commit(CapacityStore.insert(Sample.empty(), T0 - HOUR)));
  }

  private void declared(long atMillis, long cents) {
    ceilings.add(new ChangePoint(atMillis, cents));
    rows.add(ActivityRows.insert(Activity.declared("x", 8, cents), "c1", atMillis));
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

  private void held(long fromMillis, @Nullable Long toMillis) throws Exception {
    held.add(new Held(8, fromMillis, toMillis));
    rows.add(
        Statement.of(
            "INSERT INTO allocation (allocation_id, cluster, node_id, slot, state, granted_at,"
                + " active_at, grant_ceiling_cents, pinned, nomination, key_ids, reclaim_at)"
                + " VALUES (?, 'c1', ?, 0, 'ACTIVE', ?, ?, 1, 0, 0, '', ?)",
            "h" + held.size(),
            nodeId(held.size()),
            fromMillis,
            fromMillis,
            toMillis));
  }

  private List<Timeline> billed(long fromMillis, long toMillis) throws Exception {
    return await(usage.listTimelines(List.of("acme"), fromMillis, toMillis)).stream()
        .map(UsageStore.Billed::timeline)
        .toList();
  }

  @Test
  void theBillIsThatOfAllThatWasDeclaredAndWhatIsShownIsWhatWasDeclared() throws Exception {
    long first = new Random().nextLong();
    int withBill = 0;
    for (long seed = first; seed < first + WORLDS; seed++) {
      makeUp(new Random(seed));
      Timeline all = new Timeline("c1", held, prices, ceilings);
      for (int hour = 0; hour < 4; hour++) {
        long from = T0 + hour * HOUR;
        long to = from + HOUR;
        List<Usage.Line> expected = Usage.lines(all, from, to);
        List<Usage.Line> lines = new ArrayList<>();
        for (Timeline timeline : billed(from, to)) {
          lines.addAll(Usage.lines(timeline, from, to));
        }
        assertEquals(expected, lines, "seed " + seed);
        Optional<Timeline> shown = await(usage.findTimeline("c1", from, to));
        assertEquals(
            joined(Usage.spans(all, from, to)),
            joined(shown.map(of -> Usage.spans(of, from, to)).orElse(List.of())),
            "seed " + seed);
        withBill += expected.isEmpty() ? 0 : 1;
      }
    }
    assertTrue(withBill > WORLDS, withBill + " hours were billed");
  }

  /** Spans that follow each other and are alike but for their time, as one. */
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
                span.rateCents()));
      } else {
        joined.add(span);
      }
    }
    return joined;
  }

  @Test
  void howeverOftenAnOrganizationDeclaresItsBillIsReadFromWhatBearsOnIt() throws Exception {
    held(T0, null);
    priced(T0, 200L);
    priced(T0 + HOUR / 2, 150L);
    for (int i = 0; i < 20_000; i++) {
      declared(T0 + 100L * i, 250L + i % 50);
    }
    declared(T0 + HOUR / 2 + 1, 100);
    await(database.commit(rows));

    Timeline timeline = billed(T0, T0 + HOUR).get(0);
    assertTrue(timeline.ceilings().size() < 5, timeline.ceilings().size() + " ceilings were read");
    assertEquals(
        Usage.lines(new Timeline("c1", held, prices, ceilings), T0, T0 + HOUR),
        Usage.lines(timeline, T0, T0 + HOUR));
  }

  private void makeUp(Random random) throws Exception {
    held.clear();
    prices.clear();
    ceilings.clear();
    rows.clear();
    for (String table : List.of("activity", "price_point", "allocation")) {
      rows.add(Statement.of("DELETE FROM " + table));
    }
    // Some at the same moment, of which the last counts.
    long at = T0 - HOUR;
    for (int i = random.nextInt(60); i > 0; i--) {
      at += random.nextInt(3) == 0 ? 0 : random.nextInt(600_000);
      declared(at, 100L + 50L * random.nextInt(5));
    }
    at = T0 - HOUR;
    for (int i = random.nextInt(40); i > 0; i--) {
      at += 1L + random.nextInt(600_000);
      priced(at, random.nextInt(6) == 0 ? null : Long.valueOf(100L + 50L * random.nextInt(5)));
    }
    for (int i = random.nextInt(6); i > 0; i--) {
      long from = T0 - HOUR + 1_000L * random.nextInt(5 * 3_600);
      held(from, random.nextInt(3) == 0 ? null : Long.valueOf(from + random.nextInt(7_200_000)));
    }
    await(database.commit(rows));
  }
}
