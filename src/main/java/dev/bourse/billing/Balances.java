package dev.bourse.billing;

import dev.bourse.billing.Usage.Line;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Works out what organizations have, used and are committed to. */
final class Balances {
  /** Organizations of one round of queries; each is a parameter of them. */
  static final int ORGS_PER_READ = 50;

  /**
   * Organizations of one round of queries before a tick, which waits for all rounds. Each is a
   * parameter once or twice, and an engine takes more than 30,000 of them.
   */
  private static final int ORGS_PER_TICK_READ = 500;

  private final AccountStore accounts;
  private final UsageStore usage;
  private final Clusters clusters;
  private final long protectionMillis;
  private final Clock clock;

  /**
   * @param protectionMillis how long a node is protected after it became active
   */
  Balances(Database database, Clusters clusters, long protectionMillis, Clock clock) {
    this.accounts = new AccountStore(database);
    this.usage = new UsageStore(database);
    this.clusters = clusters;
    this.protectionMillis = protectionMillis;
    this.clock = clock;
  }

  /** Of one organization. Fails with {@code not-found} when there is none. */
  Future<Balance> get(String orgId) {
    return get(orgId, clock.millis());
  }

  /** Of one organization as of a moment. Fails with {@code not-found} when there is none. */
  Future<Balance> get(String orgId, long now) {
    return accounts
        .get(orgId, Month.at(now))
        .compose(account -> withAccrued(List.of(account), now))
        .map(balances -> balances.get(0));
  }

  /** Of these organizations, as far as they exist. */
  Future<List<Balance>> list(List<String> orgs) {
    Future<List<Balance>> all = Future.succeededFuture(List.of());
    for (int from = 0; from < orgs.size(); from += ORGS_PER_TICK_READ) {
      List<String> some = orgs.subList(from, Math.min(orgs.size(), from + ORGS_PER_TICK_READ));
      all = all.compose(before -> listSome(some).map(more -> joined(before, more)));
    }
    return all;
  }

  private Future<List<Balance>> listSome(List<String> orgs) {
    long now = clock.millis();
    return accounts.list(orgs, Month.at(now)).compose(accounts -> withAccrued(accounts, now));
  }

  private static List<Balance> joined(List<Balance> before, List<Balance> more) {
    List<Balance> all = new ArrayList<>(before);
    all.addAll(more);
    return all;
  }

  /** Of a page of the organizations that have clusters, by id, as of a moment. */
  Future<List<Balance>> listAfter(String after, long now) {
    return accounts
        .listAfter(after, Month.at(now), ORGS_PER_READ)
        .compose(accounts -> withAccrued(accounts, now));
  }

  private Future<List<Balance>> withAccrued(List<AccountStore.Account> accounts, long now) {
    return listTimelines(accounts, now)
        .map(
            byOrg ->
                accounts.stream()
                    .map(
                        account ->
                            new Balance(
                                account,
                                lines(
                                    byOrg.getOrDefault(account.orgId(), List.of()),
                                    account.throughMillis(),
                                    now),
                                now))
                    .toList());
  }

  /** Reads those with the same watermark together, so that one far behind slows no other down. */
  private Future<Map<String, List<UsageStore.Billed>>> listTimelines(
      List<AccountStore.Account> accounts, long now) {
    Map<Long, List<String>> byMark = new TreeMap<>();
    accounts.forEach(
        s -> byMark.computeIfAbsent(s.throughMillis(), m -> new ArrayList<>()).add(s.orgId()));
    Map<String, List<UsageStore.Billed>> byOrg = new HashMap<>();
    Future<Void> read = Future.succeededFuture();
    for (Map.Entry<Long, List<String>> group : byMark.entrySet()) {
      read =
          read.compose(before -> usage.listTimelines(group.getValue(), group.getKey(), now))
              .onSuccess(
                  timelines ->
                      timelines.forEach(
                          f -> byOrg.computeIfAbsent(f.orgId(), o -> new ArrayList<>()).add(f)))
              .mapEmpty();
    }
    return read.map(byOrg);
  }

  private static List<Line> lines(List<UsageStore.Billed> billed, long from, long to) {
    List<Line> lines = new ArrayList<>();
    billed.forEach(cluster -> lines.addAll(Usage.lines(cluster.timeline(), from, to)));
    lines.sort(Comparator.comparingLong(Line::hourMillis).thenComparing(Line::cluster));
    return lines;
  }

  /** What an organization's nodes are committed to cost within this month. */
  long committedMicros(String orgId, long nowMillis) {
    return committedMicros(orgId, Optional.empty(), nowMillis);
  }

  /**
   * The same with a cluster as it would be.
   *
   * @param instead the cluster instead of as it stands; of any organization
   */
  long committedMicros(String orgId, Optional<Cluster> instead, long nowMillis) {
    List<SpendLimit.Holder> holders = new ArrayList<>();
    for (ClusterView view : clustersOf(orgId)) {
      Cluster cluster =
          instead.filter(c -> c.name().equals(view.cluster().name())).orElse(view.cluster());
      holders.add(new SpendLimit.Holder(cluster, view.pool().gpusPerNode()));
    }
    return SpendLimit.committedMicros(holders, protectionMillis, nowMillis);
  }

  /** An organization's clusters of every surface. */
  List<ClusterView> clustersOf(String orgId) {
    List<ClusterView> views = new ArrayList<>();
    for (Cluster.Kind kind : Cluster.Kind.values()) {
      views.addAll(clusters.ofOrg(orgId, kind));
    }
    return views;
  }

  /** How long a grant made now commits its buyer. */
  long windowMillis(long nowMillis) {
    return SpendLimit.windowMillis(protectionMillis, nowMillis);
  }
}
