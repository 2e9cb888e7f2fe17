package dev.bourse.events;

import static dev.bourse.capacity.Sample.T0;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.bourse.capacity.Activity;
import dev.bourse.capacity.ActivityRows;
import dev.bourse.capacity.CapacityStore;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.store.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** History, compared with a model that visits every millisecond's change points. */
class HistoryStoreTest extends StoreFixture {
  private static final int WORLDS = 15;

  private record Asked(long at, int gpus, long cents) {}

  private record Priced(long at, @Nullable Long cents) {}

  private record Held(long from, @Nullable Long to) {}

  private final List<Asked> asked = new ArrayList<>();
  private final List<Priced> priced = new ArrayList<>();
  private final List<Held> held = new ArrayList<>();

  @Test
  void bucketsAgreeWithAModelThatLooksAtEachChangePoint() throws Exception {
    await(database.commit(CapacityStore.insert(Sample.empty(), T0)));
    long first = new Random().nextLong();
    for (long seed = first; seed < first + WORLDS; seed++) {
      Random random = new Random(seed);
      makeUp(random);
      HistorySeries.Buckets buckets =
          HistorySeries.Buckets.of(0.5 + random.nextInt(20) / 10.0, T0 + random.nextInt(999));
      HistorySeries read =
          await(new HistoryStore(database).read(Sample.empty(), Sample.POOL, buckets));
      check("seed " + seed, read, buckets);
    }
  }

  @Test
  void aBucketIsAFourHundredthOfTheSpanButAtLeastAMinute() {
    assertEquals(
        new HistorySeries.Buckets(T0 / 1000 - 1_800, 60, 30), HistorySeries.Buckets.of(0.5, T0));
    assertEquals(
        new HistorySeries.Buckets(T0 / 1000 - 8_760 * 3_600L, 78_840, 400),
        HistorySeries.Buckets.of(8_760, T0));
    HistorySeries.Buckets day = HistorySeries.Buckets.of(24, T0);
    assertEquals(216, day.stepSeconds());
    assertEquals(400, day.count());
  }

  @Test
  void beforeTheFirstDeclarationThereIsNoCeilingAndNoPriceButGrantedIsZero() throws Exception {
    await(database.commit(CapacityStore.insert(Sample.empty(), T0)));

    HistorySeries read =
        await(
            new HistoryStore(database)
                .read(Sample.empty(), Sample.POOL, HistorySeries.Buckets.of(1, T0)));

    assertEquals(60, read.granted().size());
    for (int i = 0; i < 60; i++) {
      assertNull(read.maxNodes().get(i));
      assertNull(read.maxPriceCents().get(i));
      assertNull(read.priceCents().get(i));
      assertEquals(0L, read.granted().get(i));
    }
  }

  private void makeUp(Random random) throws Exception {
    List<Statement> rows = new ArrayList<>();
    rows.add(Statement.of("DELETE FROM activity"));
    rows.add(Statement.of("DELETE FROM price_point"));
    rows.add(Statement.of("DELETE FROM allocation"));
    asked.clear();
    priced.clear();
    held.clear();
    long start = T0 - 4 * 3_600_000L;
    long at = start + random.nextInt(9_000_000);
    for (int i = random.nextInt(40); i > 0; i--) {
      at +=
          random.nextInt(3) == 0
              ? 0
              : random.nextInt(900_000) / 1_000 * (random.nextBoolean() ? 1_000L : 997L);
      Asked one = new Asked(at, 8 * random.nextInt(5), 100L + random.nextInt(400));
      asked.add(one);
      rows.add(
          ActivityRows.insert(
              new Activity("x", new ClusterEvent.Declared(one.gpus(), one.cents())),
              "c1",
              one.at()));
    }
    at = start + random.nextInt(9_000_000);
    long sum = 0;
    long millis = 0;
    for (int i = random.nextInt(40); i > 0; i--) {
      Long before = priced.isEmpty() ? null : priced.get(priced.size() - 1).cents();
      long span = 1L + random.nextInt(900_000);
      sum += before == null ? 0 : before * span;
      millis += before == null ? 0 : span;
      at += span;
      Long cents = random.nextInt(4) == 0 ? null : Long.valueOf(100 + random.nextInt(400));
      priced.add(new Priced(at, cents));
      rows.add(
          Statement.of(
              "INSERT INTO price_point (pool, ts, clearing_cents, admission_cents, cents_millis,"
                  + " priced_millis) VALUES ('h100', ?, ?, NULL, ?, ?)",
              at,
              cents,
              sum,
              millis));
    }
    for (int i = random.nextInt(15); i > 0; i--) {
      long from = start + random.nextInt(4 * 3_600) * 1_000L;
      Long to = random.nextInt(3) == 0 ? null : Long.valueOf(from + random.nextInt(7_200) * 1_000L);
      held.add(new Held(from, to));
      rows.add(
          Statement.of(
              "INSERT INTO allocation (allocation_id, cluster, node_id, slot, state, granted_at,"
                  + " grant_ceiling_cents, pinned, nomination, key_ids, reclaim_at) VALUES"
                  + " (?, 'c1', ?, 0, 'ACTIVE', ?, 1, 0, 0, '', ?)",
              "h" + i,
              nodeId(i),
              from,
              to));
    }
    await(database.commit(rows));
  }

  private void check(String seed, HistorySeries read, HistorySeries.Buckets buckets) {
    assertEquals(buckets.count(), read.granted().size());
    for (int i = 0; i < buckets.count(); i++) {
      long from = buckets.firstMillis() + i * buckets.stepMillis();
      long to = from + buckets.stepMillis();
      String where = seed + ", bucket " + i;
      Asked last = null;
      for (Asked one : asked) {
        last = one.at() <= to ? one : last;
      }
      assertEquals(
          last == null ? null : Long.valueOf(last.gpus() / 8), read.maxNodes().get(i), where);
      assertEquals(
          last == null ? null : Long.valueOf(last.cents()), read.maxPriceCents().get(i), where);
      long nodes =
          held.stream().filter(h -> h.from() <= to && (h.to() == null || h.to() > to)).count();
      assertEquals(nodes, read.granted().get(i), where);
      boolean isIdle =
          (last == null || last.gpus() == 0)
              && nodes == 0
              && held.stream()
                  .noneMatch(h -> h.from() <= from && (h.to() == null || h.to() > from));
      Double mean = isIdle ? null : mean(from, to);
      Double shown = read.priceCents().get(i);
      if (mean == null) {
        assertNull(shown, where);
      } else {
        assertNotNull(shown, where);
        assertEquals(mean, shown, 1e-6, where);
      }
    }
  }

  private @Nullable Double mean(long from, long to) {
    double sum = 0;
    double millis = 0;
    for (int i = 0; i < priced.size(); i++) {
      Priced one = priced.get(i);
      long begin = Math.max(from, one.at());
      long end = Math.min(to, i + 1 < priced.size() ? priced.get(i + 1).at() : Long.MAX_VALUE);
      if (one.cents() != null && end > begin) {
        sum += (double) one.cents() * (end - begin);
        millis += end - begin;
      }
    }
    return millis == 0 ? null : Double.valueOf(sum / millis);
  }
}
