package dev.bourse.market;

import dev.bourse.billing.BalancesModel;
import dev.bourse.billing.HoldState;
import dev.bourse.billing.Ledger;
import dev.bourse.billing.Month;
import dev.bourse.billing.SpentModel;
import dev.bourse.billing.Usage;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Conditions;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.Lapse;
import dev.bourse.capacity.Standing;
import dev.bourse.pools.Pool;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The books of a simulated month: the clusters and nodes of organizations, and their billed and
 * posted usage.
 */
abstract class SimulatedBooks {
  static final int GPUS = 8;

  final Month month = Month.parse("2026-03");
  final Map<String, Integer> seen = new TreeMap<>();
  final Map<String, Org> orgs = new TreeMap<>();
  final Map<String, History> clusters = new TreeMap<>();
  final List<Posted> posted = new ArrayList<>();
  BalancesModel ledger = BalancesModel.EMPTY;
  final List<Market> markets = new ArrayList<>();
  final MonthClocks clocks = new MonthClocks(month.startMillis());
  long through = month.startMillis();

  /** An organization's money. */
  static final class Org {
    final String id;
    final List<String> clusters = new ArrayList<>();
    HoldState hold = HoldState.NONE;
    boolean used;
    @Nullable Long limit;
    long monthMicros;
    long given;

    /** The amount that could still be spent when the limit was reached; -1 before. */
    long allowedMicros = -1;

    boolean isReached;
    boolean isRaised;
    long reachedHeldGpus;
    long reachedCeiling;
    long reachedLateMillis;

    /** The state after the last tick. */
    long tickGpus;

    long tickCeiling;

    Org(String id) {
      this.id = id;
    }
  }

  /** A cluster and all its change points. */
  static final class History {
    final Market market;
    Cluster state;
    final Map<String, Allocation> allocations = new TreeMap<>();
    final Map<String, Allocation> recent = new TreeMap<>();
    final List<Usage.ChangePoint> ceilings = new ArrayList<>();
    final List<Usage.ChangePoint> recentCeilings = new ArrayList<>();
    final List<Usage.ChangePoint> prices = new ArrayList<>();
    final List<Usage.ChangePoint> recentPrices = new ArrayList<>();

    /** The budget in force when an hour was last posted, and its posted amount. */
    private @Nullable Budget posted;

    History(Market market, Cluster state) {
      this.market = market;
      this.state = state;
    }
  }

  /** The posted amount of a budget, in cents x GPU-milliseconds. */
  private record Budget(Conditions.Budget budget, long postedCentGpuMillis) {}

  /** A pool. */
  static final class Market {
    final Pool pool;
    final Map<String, Node> nodes = new TreeMap<>();
    final List<History> buyers = new ArrayList<>();

    /** The process that runs the pool's market; null while none does. */
    MonthClocks.@Nullable Watch holder;

    /** The earliest time at which a process may run it, by the monotonic clock. */
    long heldFrom;

    /** The last clearing price that the process that runs it knows. */
    @Nullable Long quoteCents;

    Market(Pool pool) {
      this.pool = pool;
    }
  }

  record Posted(String orgId, Usage.Line line) {}

  final long now() {
    return clocks.wall();
  }

  final void count(String what) {
    seen.merge(what, 1, Integer::sum);
  }

  History history(String cluster) {
    return Objects.requireNonNull(clusters.get(cluster), cluster);
  }

  Org org(History history) {
    return Objects.requireNonNull(orgs.get(history.state.orgId()));
  }

  /** Adds a change point in order, because the clock may have been set back since the last. */
  static void note(List<Usage.ChangePoint> steps, Usage.ChangePoint step) {
    int at = steps.size();
    while (at > 0 && steps.get(at - 1).atMillis() > step.atMillis()) {
      at--;
    }
    steps.add(at, step);
  }

  /**
   * Returns the end of a node's billed time. The time after the declaration's end is not billed,
   * even before the market has ended it; null for a node that is still held.
   */
  static @Nullable Long billedTo(History history, Allocation node) {
    if (node.reclaim() != null) {
      return node.reclaim().atMillis();
    }
    Declaration declared = history.state.declared();
    return declared == null ? null : declared.untilMillis();
  }

  /** Returns the timeline of the hours that are not posted yet. */
  private static Usage.Timeline timeline(History history) {
    return new Usage.Timeline(
        history.state.name(),
        held(history, history.recent.values()),
        history.recentPrices,
        history.recentCeilings);
  }

  /** Returns the timeline of all hours. */
  static Usage.Timeline timelineOfAll(History history) {
    return new Usage.Timeline(
        history.state.name(),
        held(history, history.allocations.values()),
        history.prices,
        history.ceilings);
  }

  private static List<Usage.Held> held(History history, Collection<Allocation> allocations) {
    List<Usage.Held> held = new ArrayList<>();
    for (Allocation a : allocations) {
      if (a.activeAtMillis() != null) {
        held.add(new Usage.Held(GPUS, a.activeAtMillis(), billedTo(history, a), lock(a)));
      }
    }
    return held;
  }

  private static Usage.@Nullable Lock lock(Allocation a) {
    return a.protection().grantPriceCents() == null || a.protectedUntilMillis() == null
        ? null
        : new Usage.Lock(a.protection().grantPriceCents(), a.protectedUntilMillis());
  }

  /**
   * Returns the ceiling in force: the one that the last tick read, and at most the declared one,
   * because a declaration counts at once here.
   */
  static @Nullable Long ceiling(Cluster state) {
    Standing.Gate gate = state.standing().gate();
    Declaration declared = state.declared();
    if (gate == null || declared == null) {
      return declared == null ? null : Long.valueOf(declared.ceilingCents());
    }
    return declared.pricedAtMillis() > gate.pricedAtMillis()
        ? Math.min(gate.ceilingCents(), declared.ceilingCents())
        : gate.ceilingCents();
  }

  private List<Usage.Line> lines(Org org, long from, long to) {
    List<Usage.Line> lines = new ArrayList<>();
    for (String name : org.clusters) {
      History history = history(name);
      if (!history.recent.isEmpty()) {
        lines.addAll(Usage.lines(timeline(history), from, to));
      }
    }
    return lines;
  }

  long monthMicros(Org org) {
    return org.monthMicros
        + lines(org, through, now()).stream().mapToLong(Usage.Line::amountMicros).sum();
  }

  /**
   * Returns the spending of a declaration since its budget was set, up to a time that is not posted
   * yet.
   */
  Spent spent(History history, Conditions.Budget budget, long toMillis) {
    Budget counted = history.posted;
    long from = Math.max(budget.sinceMillis(), through);
    return SpentModel.spent(
        budget,
        counted == null || !counted.budget.equals(budget) ? 0 : counted.postedCentGpuMillis,
        from,
        Usage.spans(timeline(history), from, toMillis));
  }

  private void countPosted(History history, long end) {
    Optional<Conditions.Budget> standing = Lapse.budget(history.state);
    if (standing.isEmpty()) {
      history.posted = null;
      return;
    }
    Conditions.Budget budget = standing.get();
    Budget before = history.posted;
    long sum = before == null || !before.budget.equals(budget) ? 0 : before.postedCentGpuMillis;
    long from = Math.max(budget.sinceMillis(), through);
    for (Usage.Span span : Usage.spans(timeline(history), from, end)) {
      sum += span.centGpuMillis();
    }
    history.posted = new Budget(budget, sum);
  }

  /** Posts the next hour of all clusters. */
  void post() {
    long end = through + Usage.HOUR_MILLIS;
    for (Org org : orgs.values()) {
      List<Usage.Line> lines = lines(org, through, end);
      long micros = lines.stream().mapToLong(Usage.Line::amountMicros).sum();
      if (!lines.isEmpty()) {
        ledger = ledger.after(Ledger.usage(org.id, through, micros, now()));
        lines.forEach(line -> posted.add(new Posted(org.id, line)));
        org.monthMicros += micros;
        org.used = true;
      }
    }
    clusters.values().forEach(history -> countPosted(history, end));
    through = end;
    for (History history : clusters.values()) {
      history
          .recent
          .values()
          .removeIf(a -> a.reclaim() != null && a.reclaim().atMillis() <= through);
    }
    for (History history : clusters.values()) {
      forget(history.recentPrices);
      forget(history.recentCeilings);
    }
  }

  /** Removes change points on which no unposted hour depends. */
  private void forget(List<Usage.ChangePoint> steps) {
    while (steps.size() > 1 && steps.get(1).atMillis() <= through) {
      steps.remove(0);
    }
  }

  long gpusHeld(Org org) {
    return org.clusters.stream()
        .mapToLong(name -> (long) GPUS * history(name).state.releaseOrder().size())
        .sum();
  }

  long highestCeiling(Org org) {
    return org.clusters.stream()
        .mapToLong(name -> history(name).state.ceilingCents())
        .max()
        .orElseThrow();
  }
}
