package dev.bourse.billing;

import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Conditions;
import dev.bourse.capacity.Lapse;
import dev.bourse.core.Price;
import dev.bourse.core.Slices;
import dev.bourse.market.Spent;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Computes the cost of declarations since their budgets were set, posted and unposted. A budget
 * begins within an hour, which is posted as a whole, so that hour is computed from change points,
 * and later hours from their lines. The posted part of a budget is final and kept in memory, so
 * that a tick reads only newer lines.
 */
final class BudgetUse {
  /** Clusters of one query; each is four parameters. */
  private static final int CLUSTERS_PER_READ = 100;

  /** Organizations of one batch of queries. */
  private static final int ORGS_PER_READ = 500;

  /**
   * First hours computed at once after a start, when none is cached: each takes a handful of
   * queries, which compete with requests.
   */
  private static final int FIRST_HOURS_AT_ONCE = 8;

  /** Budgets whose posted part is cached; beyond it the cache is cleared. */
  private static final int MOST_KEPT = 200_000;

  private static final long MICROS_PER_CENT = 10_000;

  private final UsageStore usage;
  private final TimelineStore timelines;
  private final WatermarkStore watermarks;
  private final Map<String, Posted> kept = new ConcurrentHashMap<>();

  BudgetUse(Database database) {
    this.usage = new UsageStore(database);
    this.timelines = new TimelineStore(database);
    this.watermarks = new WatermarkStore(database);
  }

  /**
   * The posted part of a budget.
   *
   * @param sinceMillis start of the budget
   * @param throughMillis end of the posted hours
   * @param centGpuMillis cents x GPU-milliseconds
   */
  private record Posted(long sinceMillis, long throughMillis, long centGpuMillis) {}

  /** A budget to compute, and the watermark of its organization. */
  private record Asked(String orgId, String cluster, Conditions.Budget budget, long throughMillis) {
    long sinceMillis() {
      return budget.sinceMillis();
    }

    boolean hasPosted() {
      return sinceMillis() < throughMillis;
    }

    /** The end of the hour in which the budget begins. */
    long firstHourEnd() {
      return Usage.hourOf(sinceMillis()) + Usage.HOUR_MILLIS;
    }

    /** The start of the unposted part. */
    long accruesFrom() {
      return Math.max(sinceMillis(), throughMillis);
    }
  }

  /**
   * Returns the spending of the budgets of these clusters at this moment, by cluster; clusters
   * without a budget are left out.
   *
   * @param clusters without duplicates
   */
  Future<Map<String, Spent>> read(Collection<Cluster> clusters, long nowMillis) {
    List<Cluster> budgeted = clusters.stream().filter(c -> Lapse.budget(c).isPresent()).toList();
    if (budgeted.isEmpty()) {
      return Future.succeededFuture(Map.of());
    }
    List<String> orgs = budgeted.stream().map(Cluster::orgId).distinct().toList();
    return watermarks
        .find()
        .compose(
            common ->
                ownWatermarks(orgs)
                    .map(
                        own ->
                            asked(
                                budgeted,
                                own,
                                common.map(WatermarkStore.Common::throughMillis).orElse(0L))))
        .compose(asked -> posted(asked).compose(posted -> addAccrued(asked, posted, nowMillis)));
  }

  private Future<Map<String, Long>> ownWatermarks(List<String> orgs) {
    Map<String, Long> own = new HashMap<>();
    return BoundedWork.inTurn(
            Slices.of(orgs, ORGS_PER_READ), some -> watermarks.list(some).onSuccess(own::putAll))
        .map(own);
  }

  private static List<Asked> asked(List<Cluster> budgeted, Map<String, Long> own, long common) {
    List<Asked> asked = new ArrayList<>();
    for (Cluster cluster : budgeted) {
      asked.add(
          new Asked(
              cluster.orgId(),
              cluster.name(),
              Lapse.budget(cluster).orElseThrow(),
              own.getOrDefault(cluster.orgId(), common)));
    }
    return asked;
  }

  /** Returns the posted part of each, in cents x GPU-milliseconds. */
  private Future<Map<String, Long>> posted(List<Asked> asked) {
    if (kept.size() > MOST_KEPT) {
      kept.clear();
    }
    Map<String, Posted> known = new ConcurrentHashMap<>();
    List<Asked> more = new ArrayList<>();
    List<Asked> unknown = new ArrayList<>();
    for (Asked one : asked) {
      if (!one.hasPosted()) {
        continue;
      }
      Posted before = kept.get(one.cluster());
      boolean goesOn =
          before != null
              && before.sinceMillis() == one.sinceMillis()
              && before.throughMillis() <= one.throughMillis();
      if (goesOn) {
        known.put(one.cluster(), Objects.requireNonNull(before));
      } else {
        unknown.add(one);
      }
      more.add(one);
    }
    // Cached as they are read, so that a failure does not repeat all of them.
    return BoundedWork.untilFailure(
            unknown.iterator(),
            FIRST_HOURS_AT_ONCE,
            one ->
                firstHour(one)
                    .onSuccess(
                        first -> {
                          known.put(one.cluster(), first);
                          kept.put(one.cluster(), first);
                        }))
        .compose(done -> addPosted(more, known));
  }

  /** Computes the part of the first hour after the budget's start. */
  private Future<Posted> firstHour(Asked one) {
    long end = one.firstHourEnd();
    AtomicLong sum = new AtomicLong();
    return timelines
        .read(
            TimelineStore.Clusters.named(List.of(one.cluster())),
            one.sinceMillis(),
            end,
            piece ->
                piece
                    .spansFrom(one.sinceMillis())
                    .forEach(span -> sum.accumulateAndGet(span.centGpuMillis(), Math::addExact)))
        .map(read -> new Posted(one.sinceMillis(), end, sum.get()));
  }

  private Future<Map<String, Long>> addPosted(List<Asked> asked, Map<String, Posted> known) {
    List<UsageStore.Hours> hours = new ArrayList<>();
    for (Asked one : asked) {
      long from = Objects.requireNonNull(known.get(one.cluster())).throughMillis();
      if (from < one.throughMillis()) {
        hours.add(new UsageStore.Hours(one.orgId(), one.cluster(), from, one.throughMillis()));
      }
    }
    Map<String, Long> sums = new HashMap<>();
    return BoundedWork.inTurn(
            Slices.of(hours, CLUSTERS_PER_READ),
            some -> usage.sumPosted(some).onSuccess(sums::putAll))
        .map(
            all -> {
              Map<String, Long> totals = new HashMap<>();
              for (Asked one : asked) {
                Posted before = Objects.requireNonNull(known.get(one.cluster()));
                long total =
                    Math.addExact(before.centGpuMillis(), sums.getOrDefault(one.cluster(), 0L));
                kept.put(one.cluster(), new Posted(one.sinceMillis(), one.throughMillis(), total));
                totals.put(one.cluster(), total);
              }
              return totals;
            });
  }

  /** Adds unposted usage, read together for organizations with the same watermark. */
  private Future<Map<String, Spent>> addAccrued(
      List<Asked> asked, Map<String, Long> posted, long nowMillis) {
    Map<String, Tally> tallies = new HashMap<>();
    Map<Long, List<Asked>> byMark = new TreeMap<>();
    for (Asked one : asked) {
      tallies.put(
          one.cluster(),
          new Tally(one.budget(), posted.getOrDefault(one.cluster(), 0L), one.accruesFrom()));
      byMark.computeIfAbsent(one.throughMillis(), mark -> new ArrayList<>()).add(one);
    }
    List<List<Asked>> groups =
        byMark.values().stream()
            .flatMap(group -> Slices.of(group, CLUSTERS_PER_READ).stream())
            .toList();
    return BoundedWork.inTurn(groups, some -> count(some, tallies, nowMillis))
        .map(
            done -> {
              Map<String, Spent> spent = new HashMap<>();
              tallies.forEach((cluster, tally) -> spent.put(cluster, tally.spent()));
              return spent;
            });
  }

  private Future<Void> count(List<Asked> some, Map<String, Tally> tallies, long nowMillis) {
    return timelines.read(
        TimelineStore.Clusters.named(some.stream().map(Asked::cluster).toList()),
        some.stream().mapToLong(Asked::accruesFrom).min().orElse(nowMillis),
        nowMillis,
        piece -> Objects.requireNonNull(tallies.get(piece.timeline().cluster())).add(piece));
  }

  /** Sums up the spending of a budget in order of time. */
  static final class Tally {
    private final Conditions.Budget budget;
    private final long fromMillis;
    private final long most;
    private long sum;
    private OptionalLong reached;

    /**
     * @param posted the posted part, in cents x GPU-milliseconds
     * @param fromMillis end of the posted part
     */
    Tally(Conditions.Budget budget, long posted, long fromMillis) {
      this.budget = budget;
      this.fromMillis = fromMillis;
      this.most =
          Math.multiplyExact(
              budget.maxSpendCents(), MICROS_PER_CENT * Price.CENT_GPU_MILLIS_PER_MICRO);
      this.sum = posted;
      this.reached = sum >= most ? OptionalLong.of(fromMillis) : OptionalLong.empty();
    }

    /** Adds the part of a piece after the posted part. */
    void add(TimelineStore.Piece piece) {
      add(piece.spansFrom(fromMillis));
    }

    /** Adds spans in order of time; concurrent spans count together. */
    void add(List<Usage.Span> spans) {
      int next = 0;
      while (next < spans.size()) {
        long begin = spans.get(next).fromMillis();
        long before = sum;
        long perMillis = 0;
        for (; next < spans.size() && spans.get(next).fromMillis() == begin; next++) {
          Usage.Span span = spans.get(next);
          sum = Math.addExact(sum, span.centGpuMillis());
          perMillis += span.rateCents() * span.gpus();
        }
        if (reached.isEmpty() && sum >= most) {
          reached = OptionalLong.of(begin + (most - before) / perMillis);
        }
      }
    }

    /** Returns the sum so far, and the time at which it reached the budget. */
    Spent spent() {
      return new Spent(
          budget,
          Math.addExact(sum, Price.CENT_GPU_MILLIS_PER_MICRO - 1) / Price.CENT_GPU_MILLIS_PER_MICRO,
          reached);
    }
  }
}
