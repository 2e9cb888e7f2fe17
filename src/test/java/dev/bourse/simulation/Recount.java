package dev.bourse.simulation;

import dev.bourse.store.sqlite.MemoryEngine;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Recomputes all bills from the stored machines, prices and declarations, in the simplest way:
 * machine by machine, stretch by stretch.
 */
final class Recount {
  /** A cent for each GPU and hour is 10,000 micro-dollars, over the milliseconds of an hour. */
  private static final long CENT_GPU_MILLIS_PER_MICRO = 360;

  /**
   * The bill of a cluster for some time.
   *
   * @param gpuMillis GPUs times milliseconds
   * @param centGpuMillis the same times their price
   */
  record Bill(long gpuMillis, long centGpuMillis) {
    long micros() {
      return centGpuMillis / CENT_GPU_MILLIS_PER_MICRO;
    }
  }

  /** A held machine, and the lock of its price. */
  private record Held(long from, long to, @Nullable Long lockCents, long lockedUntil) {}

  private record Change(long at, @Nullable Long cents) {}

  /** A ceiling that a tick read, and when it was declared. */
  private record Read(long at, long cents, long pricedAt) {}

  /** A declared ceiling, and when it takes effect without a tick. */
  private record Declared(long at, long effectiveAt, long cents) {}

  private final Map<String, List<Held>> held = new HashMap<>();
  private final Map<String, List<Declared>> declared = new HashMap<>();
  private final Map<String, List<Read>> reads = new HashMap<>();
  private final Map<String, String> orgs = new HashMap<>();
  private final List<Change> prices;
  private final Map<String, List<Change>> orgPrices = new HashMap<>();
  private final long firstMillis;

  Recount(MemoryEngine engine) {
    long first = Long.MAX_VALUE;
    for (Object[] row :
        engine.query(
            "SELECT cluster, active_at, COALESCE(reclaim_at, ?) AS found, grant_price_cents,"
                + " COALESCE(protected_until, 0) AS locked FROM allocation"
                + " WHERE active_at IS NOT NULL",
            List.of(Long.MAX_VALUE),
            row ->
                new Object[] {
                  row.text("cluster"),
                  new Held(
                      row.integer("active_at"),
                      row.integer("found"),
                      row.integerOrNull("grant_price_cents"),
                      row.integer("locked"))
                })) {
      Held machine = (Held) row[1];
      held.computeIfAbsent((String) row[0], name -> new ArrayList<>()).add(machine);
      first = Math.min(first, machine.from);
    }
    firstMillis = first;
    prices =
        engine.query(
            "SELECT ts, clearing_cents FROM price_point WHERE pool = ? ORDER BY ts",
            List.of(World.POOL),
            row -> new Change(row.integer("ts"), row.integerOrNull("clearing_cents")));
    engine.query(
        "SELECT org_id, ts, cents FROM org_price_point WHERE pool = ? ORDER BY ts",
        List.of(World.POOL),
        row ->
            orgPrices
                .computeIfAbsent(row.text("org_id"), org -> new ArrayList<>())
                .add(new Change(row.integer("ts"), row.integerOrNull("cents"))));
    engine.query(
        "SELECT name, org_id FROM cluster",
        List.of(),
        row -> orgs.put(row.text("name"), row.text("org_id")));
    engine.query(
        "SELECT cluster, ts, ceiling_cents, priced_at FROM ceiling_point ORDER BY ts",
        List.of(),
        row ->
            reads
                .computeIfAbsent(row.text("cluster"), name -> new ArrayList<>())
                .add(
                    new Read(
                        row.integer("ts"),
                        row.integer("ceiling_cents"),
                        row.integer("priced_at"))));
    engine.query(
        "SELECT cluster, ts, COALESCE(effective_at, ts) AS effective, ceiling_cents FROM activity"
            + " WHERE kind = 'request' ORDER BY ts, id",
        List.of(),
        row ->
            declared
                .computeIfAbsent(row.text("cluster"), name -> new ArrayList<>())
                .add(
                    new Declared(
                        row.integer("ts"),
                        row.integer("effective"),
                        row.integer("ceiling_cents"))));
  }

  /** Returns when the first machine became active; {@link Long#MAX_VALUE} if none did. */
  long firstMillis() {
    return firstMillis;
  }

  /** Returns a cluster's bill from one moment to another. */
  Bill of(String cluster, long fromMillis, long toMillis) {
    List<Change> own = orgPrices.getOrDefault(String.valueOf(orgs.get(cluster)), List.of());
    TreeSet<Long> changes = new TreeSet<>();
    prices.forEach(change -> changes.add(change.at));
    own.forEach(change -> changes.add(change.at));
    reads.getOrDefault(cluster, List.of()).forEach(read -> changes.add(read.at));
    for (Declared one : declared.getOrDefault(cluster, List.of())) {
      changes.add(one.at);
      changes.add(one.effectiveAt);
    }
    long gpuMillis = 0;
    long centGpuMillis = 0;
    for (Held machine : held.getOrDefault(cluster, List.of())) {
      long from = Math.max(fromMillis, machine.from);
      long to = Math.min(toMillis, machine.to);
      if (from >= to) {
        continue;
      }
      TreeSet<Long> moments = new TreeSet<>(List.of(from, to));
      moments.add(Math.min(to, Math.max(from, machine.lockedUntil)));
      moments.addAll(changes.subSet(from, to));
      for (long at : moments) {
        Long next = moments.higher(at);
        Long another = at(own, at);
        Long price = another == null ? at(prices, at) : another;
        Long most = ceiling(cluster, at);
        if (next != null && price != null && most != null) {
          long millis = World.GPUS_PER_NODE * (next - at);
          Long lock = at < machine.lockedUntil ? machine.lockCents : null;
          long cents = Math.min(price, most);
          gpuMillis += millis;
          centGpuMillis += millis * (lock == null ? cents : Math.min(cents, lock));
        }
      }
    }
    return new Bill(gpuMillis, centGpuMillis);
  }

  /**
   * Returns the ceiling that the last tick read, or a lower one that was declared since and is due.
   */
  private @Nullable Long ceiling(String cluster, long millis) {
    Read last = null;
    for (Read read : reads.getOrDefault(cluster, List.of())) {
      last = read.at <= millis ? read : last;
    }
    Long cents = last == null ? null : Long.valueOf(last.cents);
    for (Declared one : declared.getOrDefault(cluster, List.of())) {
      if (last == null) {
        cents = one.at <= millis ? Long.valueOf(one.cents) : cents;
      } else if (one.at > last.pricedAt && one.effectiveAt <= millis) {
        cents = Math.min(last.cents, one.cents);
      }
    }
    return cents;
  }

  /** Returns it in micro-dollars, rounded down hour by hour like bills. */
  long micros(String cluster, long fromMillis, long toMillis) {
    long micros = 0;
    for (long at = fromMillis; at < toMillis; ) {
      long end = Math.min(toMillis, hourOf(at) + MoneyTerms.HOUR_MILLIS);
      micros += of(cluster, at, end).micros();
      at = end;
    }
    return micros;
  }

  static long hourOf(long millis) {
    return Math.floorDiv(millis, MoneyTerms.HOUR_MILLIS) * MoneyTerms.HOUR_MILLIS;
  }

  private static @Nullable Long at(List<Change> changes, long millis) {
    Long cents = null;
    for (Change change : changes) {
      if (change.at > millis) {
        break;
      }
      cents = change.cents;
    }
    return cents;
  }
}
