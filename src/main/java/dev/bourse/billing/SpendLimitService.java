package dev.bourse.billing;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.schemas.console.SpendOutlookJson;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Operations of members on their organization's spend limit. */
public final class SpendLimitService {
  /** Delay of the hold checks: a minute before the grace, the notice and the reclaim each. */
  private static final long LOOKS_MILLIS = 180_000;

  private final Balances balances;
  private final UsageStore usage;
  private final BillingAdminService admin;
  private final Clusters clusters;
  private final long stopMillis;
  private final Clock clock;

  /**
   * The service's periods.
   *
   * @param billing periods of holds
   * @param protectionMillis how long a node is protected after it became active
   * @param tickMillis interval of ticks
   */
  public record Periods(BillingConfig billing, long protectionMillis, long tickMillis) {
    long stopMillis() {
      return billing.graceMillis() + billing.noticeMillis() + LOOKS_MILLIS + tickMillis;
    }
  }

  public SpendLimitService(
      Database database,
      Clusters clusters,
      BillingAdminService admin,
      Periods periods,
      Clock clock) {
    this.balances = new Balances(database, clusters, periods.protectionMillis(), clock);
    this.usage = new UsageStore(database);
    this.admin = admin;
    this.clusters = clusters;
    this.stopMillis = periods.stopMillis();
    this.clock = clock;
  }

  /** Returns the outlook for an organization's month under the limit in force. */
  public Future<SpendOutlookJson> readSpendLimit(String orgId) {
    return balances.get(orgId).map(b -> outlook(b, b.account().limits()).toJson());
  }

  /**
   * Returns the outlook with another limit of the organization's own; stores nothing. Fails with
   * {@code bad-request} above the operator's limit, like the write.
   */
  public Future<SpendOutlookJson> previewSpendLimit(String orgId, long micros) {
    return balances
        .get(orgId)
        .map(b -> outlook(b, b.account().limits().withMember(micros)).toJson());
  }

  /**
   * Sets or deletes the organization's own limit and returns the outlook. Fails with {@code
   * bad-request} above the operator's limit.
   *
   * @param actor the member
   * @param micros at least 0; null for no limit
   */
  public Future<SpendOutlookJson> setSpendLimit(String actor, String orgId, @Nullable Long micros) {
    return admin.limitByMember(actor, orgId, micros).compose(set -> readSpendLimit(orgId));
  }

  private SpendOutlook outlook(Balance balance, SpendLimits limits) {
    String orgId = balance.account().orgId();
    List<SpendOutlook.Exposure> exposures = new ArrayList<>();
    for (Cluster.Kind kind : Cluster.Kind.values()) {
      for (ClusterView view : clusters.ofOrg(orgId, kind)) {
        SpendOutlook.Exposure exposure = exposure(view);
        if (exposure.maxGpus() > 0) {
          exposures.add(exposure);
        }
      }
    }
    return new SpendOutlook(
        limits,
        clusters.switches().spendLimitEnforced(),
        balance.monthMicros(),
        balances.committedMicros(orgId, balance.atMillis()),
        exposures,
        stopMillis,
        balance.atMillis());
  }

  private static SpendOutlook.Exposure exposure(ClusterView view) {
    Cluster cluster = view.cluster();
    int gpusPerNode = view.pool().gpusPerNode();
    int active = 0;
    int open = 0;
    for (Allocation node : cluster.allocations()) {
      active += node.state() == Allocation.State.ACTIVE ? 1 : 0;
      open += node.isOpen() ? 1 : 0;
    }
    Long clearing = view.prices().clearingCents();
    return new SpendOutlook.Exposure(
        cluster.name(),
        cluster.pool(),
        active * gpusPerNode,
        Math.max(open, cluster.declaredSlots(gpusPerNode)) * gpusPerNode,
        clearing == null ? 0 : Math.min(clearing, cluster.ceilingCents()),
        cluster.ceilingCents());
  }

  /** The usage of one cluster on one UTC day. */
  public record Day(long startMillis, String cluster, long gpuMillis, long amountMicros) {}

  /** Returns a month's usage by day and cluster, accrued usage included. */
  public Future<List<Day>> listUsageDays(String orgId, Month month) {
    TreeMap<String, Day> sums = new TreeMap<>();
    return balances
        .get(
            orgId,
            line -> {
              if (Month.at(line.hourMillis()).equals(month)) {
                Day day = day(line);
                sums.merge(key(day), day, SpendLimitService::sum);
              }
            })
        .compose(
            balance ->
                usage.listDays(
                    orgId,
                    month.startMillis(),
                    Math.min(month.endMillis(), balance.account().throughMillis())))
        .map(
            posted -> {
              posted.forEach(day -> sums.merge(key(day), day, SpendLimitService::sum));
              return List.copyOf(sums.values());
            });
  }

  private static Day day(Usage.Line line) {
    return new Day(
        line.hourMillis() - Math.floorMod(line.hourMillis(), UsageStore.DAY_MILLIS),
        line.cluster(),
        line.gpuMillis(),
        line.amountMicros());
  }

  /** Sorts by day, then by cluster. */
  private static String key(Day day) {
    return day.startMillis() + "/" + day.cluster();
  }

  private static Day sum(Day a, Day b) {
    return new Day(
        a.startMillis(),
        a.cluster(),
        a.gpuMillis() + b.gpuMillis(),
        a.amountMicros() + b.amountMicros());
  }

  /** Returns the current month. */
  public Month thisMonth() {
    return Month.at(clock.millis());
  }
}
