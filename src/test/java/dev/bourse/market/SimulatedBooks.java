package dev.bourse.market;

import dev.bourse.billing.BalancesModel;
import dev.bourse.billing.HoldState;
import dev.bourse.billing.Ledger;
import dev.bourse.billing.Month;
import dev.bourse.billing.Usage;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.pools.Pool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The books of a simulated month: what everybody has, and what is billed and posted of it. */
abstract class SimulatedBooks {
  static final int GPUS = 8;

  final Month month = Month.parse("2026-03").orElseThrow();
  final Map<String, Org> orgs = new TreeMap<>();
  final Map<String, History> clusters = new TreeMap<>();
  final List<Posted> posted = new ArrayList<>();
  BalancesModel ledger = BalancesModel.EMPTY;
  final List<Market> markets = new ArrayList<>();
  long now = month.startMillis();
  long through = now;

  /** An organization's money. */
  static final class Org {
    final String id;
    final List<String> clusters = new ArrayList<>();
    HoldState hold = HoldState.NONE;
    boolean used;
    @Nullable Long limit;
    long monthMicros;
    long given;

    /** Where the limit was reached, and how much could still be spent from there on. */
    long allowedMicros = -1;

    long reachedHeldGpus;
    long reachedCeiling;

    /** As the last tick left it. */
    long tickGpus;

    long tickCeiling;

    Org(String id) {
      this.id = id;
    }
  }

  /** A cluster, and the change points of all it ever did. */
  static final class History {
    final Market market;
    Cluster state;
    final Map<String, Allocation> allocations = new TreeMap<>();
    final Map<String, Allocation> recent = new TreeMap<>();
    final List<Usage.ChangePoint> ceilings = new ArrayList<>();
    final List<Usage.ChangePoint> recentCeilings = new ArrayList<>();

    History(Market market, Cluster state) {
      this.market = market;
      this.state = state;
    }
  }

  /** A pool. */
  static final class Market {
    final Pool pool;
    final Map<String, Node> nodes = new TreeMap<>();
    final List<History> buyers = new ArrayList<>();
    final List<Usage.ChangePoint> prices = new ArrayList<>();
    final List<Usage.ChangePoint> recentPrices = new ArrayList<>();

    Market(Pool pool) {
      this.pool = pool;
    }
  }

  record Posted(String orgId, Usage.Line line) {}

  History history(String cluster) {
    return Objects.requireNonNull(clusters.get(cluster), cluster);
  }

  Org org(History history) {
    return Objects.requireNonNull(orgs.get(history.state.orgId()));
  }

  /** What bears on hours that are not posted yet. */
  private static Usage.Timeline timeline(History history) {
    List<Usage.Held> held = new ArrayList<>();
    for (Allocation a : history.recent.values()) {
      if (a.activeAtMillis() != null) {
        held.add(
            new Usage.Held(
                GPUS, a.activeAtMillis(), a.reclaim() == null ? null : a.reclaim().atMillis()));
      }
    }
    return new Usage.Timeline(
        history.state.name(), held, history.market.recentPrices, history.recentCeilings);
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
        + lines(org, through, now).stream().mapToLong(Usage.Line::amountMicros).sum();
  }

  /** Closes the next hour for everybody. */
  void post() {
    long end = through + Usage.HOUR_MILLIS;
    for (Org org : orgs.values()) {
      List<Usage.Line> lines = lines(org, through, end);
      long micros = lines.stream().mapToLong(Usage.Line::amountMicros).sum();
      if (!lines.isEmpty()) {
        ledger = ledger.after(Ledger.usage(org.id, through, micros, now));
        lines.forEach(line -> posted.add(new Posted(org.id, line)));
        org.monthMicros += micros;
        org.used = true;
      }
    }
    through = end;
    for (History history : clusters.values()) {
      history
          .recent
          .values()
          .removeIf(a -> a.reclaim() != null && a.reclaim().atMillis() <= through);
    }
    markets.forEach(market -> forget(market.recentPrices));
    clusters.values().forEach(history -> forget(history.recentCeilings));
  }

  /** Change points that nothing unposted depends on any more. */
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
