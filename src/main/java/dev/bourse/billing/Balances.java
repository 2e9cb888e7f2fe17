package dev.bourse.billing;

import dev.bourse.billing.Usage.Line;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.Slices;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Database;
import dev.bourse.store.StoreUnavailable;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

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
  private final TimelineStore timelines;
  private final Clusters clusters;
  private final long protectionMillis;
  private final Clock clock;

  /**
   * @param protectionMillis how long a node is protected after it became active
   */
  Balances(Database database, Clusters clusters, long protectionMillis, Clock clock) {
    this.accounts = new AccountStore(database);
    this.timelines = new TimelineStore(database);
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
    return get(orgId, now, line -> {});
  }

  /**
   * Of one organization, and what it is the sum of. Fails with {@code not-found} when there is
   * none.
   *
   * @param accrued is told each line of usage that is not posted, in no order
   */
  Future<Balance> get(String orgId, Consumer<Line> accrued) {
    return get(orgId, clock.millis(), accrued);
  }

  private Future<Balance> get(String orgId, long now, Consumer<Line> accrued) {
    return accounts
        .get(orgId, Month.at(now))
        .compose(account -> withAccrued(List.of(account), account.throughMillis(), now, accrued))
        .map(balances -> balances.get(0));
  }

  /** Of these organizations, as far as they exist and their usage can be read. */
  Future<List<Balance>> list(List<String> orgs) {
    List<Balance> all = new ArrayList<>();
    return BoundedWork.inTurn(
            Slices.of(orgs, ORGS_PER_TICK_READ), some -> listSome(some).onSuccess(all::addAll))
        .map(all);
  }

  private Future<List<Balance>> listSome(List<String> orgs) {
    long now = clock.millis();
    return accounts.list(orgs, Month.at(now)).compose(accounts -> readable(accounts, now));
  }

  /**
   * Some balances.
   *
   * @param next the last organization that was asked about; empty when there is none after it
   */
  record Part(List<Balance> balances, Optional<String> next) {}

  /**
   * Of a page of the organizations that have clusters, by id, as of a moment, as far as their usage
   * can be read.
   */
  Future<Part> listAfter(String after, long now) {
    return accounts
        .listAfter(after, Month.at(now), ORGS_PER_READ)
        .compose(
            accounts ->
                readable(accounts, now)
                    .map(
                        balances ->
                            new Part(
                                balances,
                                accounts.size() < ORGS_PER_READ
                                    ? Optional.empty()
                                    : Optional.of(accounts.get(accounts.size() - 1).orgId()))));
  }

  /** Reads those with the same watermark together, so that one far behind slows no other down. */
  private Future<List<Balance>> readable(List<AccountStore.Account> accounts, long now) {
    Map<Long, List<AccountStore.Account>> byMark = new TreeMap<>();
    accounts.forEach(
        account ->
            byMark
                .computeIfAbsent(account.throughMillis(), mark -> new ArrayList<>())
                .add(account));
    List<Balance> all = new ArrayList<>();
    return BoundedWork.inTurn(
            byMark.entrySet(),
            group -> readable(group.getValue(), group.getKey(), now).onSuccess(all::addAll))
        .map(done -> all.stream().sorted(Comparator.comparing(b -> b.account().orgId())).toList());
  }

  /**
   * One whose usage cannot be read hides nobody else's. It is left out; posting, which cannot read
   * it either, tells of it. A store that does not answer is another matter: nobody is left out.
   */
  private Future<List<Balance>> readable(
      List<AccountStore.Account> accounts, long through, long now) {
    return withAccrued(accounts, through, now, line -> {})
        .recover(e -> isOfStore(e) ? Future.failedFuture(e) : eachAlone(accounts, through, now));
  }

  private Future<List<Balance>> eachAlone(
      List<AccountStore.Account> accounts, long through, long now) {
    List<Balance> readable = Collections.synchronizedList(new ArrayList<>());
    return BoundedWork.each(
            accounts.iterator(),
            TimelineStore.ALONE_AT_ONCE,
            account ->
                withAccrued(List.of(account), through, now, line -> {})
                    .onSuccess(readable::addAll)
                    .recover(e -> isOfStore(e) ? Future.failedFuture(e) : Future.succeededFuture()))
        .map(done -> List.copyOf(readable));
  }

  private static boolean isOfStore(Throwable failure) {
    return failure instanceof StoreUnavailable;
  }

  /** Of those whose usage is posted up to one moment. */
  private Future<List<Balance>> withAccrued(
      List<AccountStore.Account> accounts, long through, long now, Consumer<Line> reader) {
    Map<String, Map<Month, Long>> accrued = new HashMap<>();
    accounts.forEach(account -> accrued.put(account.orgId(), new HashMap<>()));
    return timelines
        .read(
            TimelineStore.Clusters.ofOrgs(List.copyOf(accrued.keySet())),
            through,
            now,
            piece -> {
              Map<Month, Long> months = Objects.requireNonNull(accrued.get(piece.orgId()));
              for (Line line : piece.lines()) {
                months.merge(Month.at(line.hourMillis()), line.amountMicros(), Math::addExact);
                reader.accept(line);
              }
            })
        .map(
            read ->
                accounts.stream()
                    .map(
                        account ->
                            new Balance(
                                account, Objects.requireNonNull(accrued.get(account.orgId())), now))
                    .toList());
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
    for (ClusterView view : clusters.ofOrg(orgId)) {
      Cluster cluster =
          instead.filter(c -> c.name().equals(view.cluster().name())).orElse(view.cluster());
      holders.add(new SpendLimit.Holder(cluster, view.pool().gpusPerNode()));
    }
    return SpendLimit.committedMicros(holders, protectionMillis, nowMillis);
  }

  /** How long a grant made now commits its buyer. */
  long windowMillis(long nowMillis) {
    return SpendLimit.windowMillis(protectionMillis, nowMillis);
  }
}
