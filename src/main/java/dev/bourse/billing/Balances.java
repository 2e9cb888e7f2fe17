package dev.bourse.billing;

import dev.bourse.billing.Usage.Line;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.Slices;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Database;
import dev.bourse.store.StoreUnavailableException;
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

/** Computes balances, usage and commitments of organizations. */
final class Balances {
  /** Organizations of one batch of queries; each is a parameter of them. */
  static final int ORGS_PER_READ = 50;

  /**
   * Organizations of one batch before a tick, which waits for all batches. Each is one or two
   * parameters, and both engines accept more than 30,000.
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

  /** Returns an organization's balance. Fails with {@code not-found} if it does not exist. */
  Future<Balance> get(String orgId) {
    return get(orgId, clock.millis());
  }

  /**
   * Returns an organization's balance at a moment. Fails with {@code not-found} if it does not
   * exist.
   */
  Future<Balance> get(String orgId, long now) {
    return get(orgId, now, line -> {});
  }

  /**
   * Returns an organization's balance, and the lines of unposted usage in it. Fails with {@code
   * not-found} if it does not exist.
   *
   * @param accrued receives each unposted line, in no order
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

  /**
   * Returns the balances of organizations; omits unknown organizations and those whose usage cannot
   * be read.
   */
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
   * A page of balances.
   *
   * @param next the last organization of the page; empty at the end
   */
  record Part(List<Balance> balances, Optional<String> next) {}

  /**
   * Returns the balances of a page of the organizations with clusters, by id, at a moment.
   * Organizations whose usage cannot be read are left out.
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

  /**
   * Reads organizations with the same watermark together, so that one far behind slows no other
   * down.
   */
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
   * An organization whose usage cannot be read is left out and does not hide the others; usage
   * posting reports it. If the store is down, the whole read fails.
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
    return failure instanceof StoreUnavailableException;
  }

  /** Returns balances of organizations whose usage is posted up to the same moment. */
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

  /** Returns the committed cost of an organization's nodes within this month. */
  long committedMicros(String orgId, long nowMillis) {
    return committedMicros(orgId, Optional.empty(), nowMillis);
  }

  /**
   * Like {@link #committedMicros(String, long)}, with one cluster replaced.
   *
   * @param instead the cluster's state to assume; of any organization
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

  /** Returns how long a grant made now commits its buyer. */
  long windowMillis(long nowMillis) {
    return SpendLimit.windowMillis(protectionMillis, nowMillis);
  }
}
