package dev.bourse.simulation;

import dev.bourse.store.sqlite.MemoryEngine;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What everybody has to be billed, counted anew from what is stored of machines, prices and
 * declarations, as plainly as it can be said: machine by machine, stretch by stretch.
 */
final class Recount {
  /** A cent for each GPU and hour is 10,000 micro-dollars, over the milliseconds of an hour. */
  private static final long CENT_GPU_MILLIS_PER_MICRO = 360;

  /**
   * What a cluster is billed over some time.
   *
   * @param gpuMillis GPUs times milliseconds
   * @param centGpuMillis the same times their price
   */
  record Bill(long gpuMillis, long centGpuMillis) {
    long micros() {
      return centGpuMillis / CENT_GPU_MILLIS_PER_MICRO;
    }
  }

  private record Held(long from, long to) {}

  private record Change(long at, @Nullable Long cents) {}

  private final Map<String, List<Held>> held = new HashMap<>();
  private final Map<String, List<Change>> ceilings = new HashMap<>();
  private final List<Change> prices;
  private final long firstMillis;

  Recount(MemoryEngine engine) {
    long first = Long.MAX_VALUE;
    for (Object[] row :
        engine.query(
            "SELECT cluster, active_at, COALESCE(reclaim_at, ?) AS found FROM allocation"
                + " WHERE active_at IS NOT NULL",
            List.of(Long.MAX_VALUE),
            row ->
                new Object[] {
                  row.text("cluster"), row.integer("active_at"), row.integer("found")
                })) {
      held.computeIfAbsent((String) row[0], name -> new ArrayList<>())
          .add(new Held((long) row[1], (long) row[2]));
      first = Math.min(first, (long) row[1]);
    }
    firstMillis = first;
    prices =
        engine.query(
            "SELECT ts, clearing_cents FROM price_point WHERE pool = ? ORDER BY ts",
            List.of(World.POOL),
            row -> new Change(row.integer("ts"), row.integerOrNull("clearing_cents")));
    engine.query(
        "SELECT cluster, ts, ceiling_cents FROM activity WHERE kind = 'request' ORDER BY ts, id",
        List.of(),
        row ->
            ceilings
                .computeIfAbsent(row.text("cluster"), name -> new ArrayList<>())
                .add(new Change(row.integer("ts"), row.integerOrNull("ceiling_cents"))));
  }

  /** When the first machine became active; {@link Long#MAX_VALUE} when none did. */
  long firstMillis() {
    return firstMillis;
  }

  /** What a cluster is billed from one moment to another. */
  Bill of(String cluster, long fromMillis, long toMillis) {
    List<Change> ceiling = ceilings.getOrDefault(cluster, List.of());
    long gpuMillis = 0;
    long centGpuMillis = 0;
    for (Held machine : held.getOrDefault(cluster, List.of())) {
      long from = Math.max(fromMillis, machine.from);
      long to = Math.min(toMillis, machine.to);
      if (from >= to) {
        continue;
      }
      TreeSet<Long> moments = new TreeSet<>(List.of(from, to));
      prices.forEach(change -> moments.add(Math.min(to, Math.max(from, change.at))));
      ceiling.forEach(change -> moments.add(Math.min(to, Math.max(from, change.at))));
      for (long at : moments) {
        Long next = moments.higher(at);
        Long price = at(prices, at);
        Long most = at(ceiling, at);
        if (next != null && price != null && most != null) {
          long millis = World.GPUS_PER_NODE * (next - at);
          gpuMillis += millis;
          centGpuMillis += millis * Math.min(price, most);
        }
      }
    }
    return new Bill(gpuMillis, centGpuMillis);
  }

  /** The same in micro-dollars, rounded down hour by hour as bills are. */
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
