package dev.bourse.billing;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.Holds;
import dev.bourse.capacity.OperatorCommands;
import dev.bourse.core.ApiException;
import dev.bourse.core.ConfirmedTime;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import dev.bourse.pools.Switches;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves the automatic holds of organizations and puts holds on clusters. {@link #step} checks all
 * organizations, a page at a time; {@link #check} checks one after a payment.
 *
 * <p>A new cluster is created under its organization's hold in one commit, and a new hold is put on
 * every stored cluster. So in either order no cluster is without its hold long enough to be granted
 * capacity that the hold forbids.
 *
 * <p>Holds advance by confirmed time only, because a reclaim cannot be undone; without it they are
 * lifted but not begun.
 */
public final class HoldService implements Holds {
  private static final Logger LOG = LoggerFactory.getLogger(HoldService.class);

  /** Attempts of one check if the hold or the balance changes concurrently. */
  private static final int CHECKS = 5;

  /** Actor of all automatic actions of billing. */
  static final String ACTOR = "system:billing";

  /**
   * Lag of posting beyond which holds stop. Checking all organizations would compute long stretches
   * of unposted usage again and again, and posting catches up within seconds or minutes. During the
   * lag no hold begins or advances, which is logged and shown.
   */
  static final long MAX_BEHIND_MILLIS = 4 * Usage.HOUR_MILLIS;

  private final Database database;
  private final AccountStore accounts;
  private final Balances balances;
  private final Clusters clusters;
  private final ClusterOwners owners;
  private final BillingConfig config;
  private final Clock clock;
  private final ConfirmedTime time;

  // Used by one step at a time.
  private String after = "";

  /** The watermark at the last check; null before any, or with nothing posted. */
  private volatile @Nullable Long throughMillis;

  private volatile boolean isWaiting;

  /**
   * @param protectionMillis how long a node is protected after it became active
   */
  public HoldService(
      Database database,
      Clusters clusters,
      ClusterOwners owners,
      BillingConfig config,
      long protectionMillis,
      Clock clock,
      ConfirmedTime time) {
    this.database = database;
    this.accounts = new AccountStore(database);
    this.balances = new Balances(database, clusters, protectionMillis, clock);
    this.clusters = clusters;
    this.owners = owners;
    this.config = config;
    this.clock = clock;
    this.time = time;
  }

  @Override
  public Future<Holds.Reading> readHold(String orgId) {
    return accounts
        .get(orgId, Month.at(clock.millis()))
        .map(
            account ->
                new Holds.Reading(
                    account.held().clusterHold(config.noticeMillis()),
                    List.of(AccountStore.known(orgId), AccountStore.fence(orgId, account.held()))));
  }

  /**
   * Puts the enforced holds on clusters that lack them, because a process died before it did, or a
   * world file added the clusters. Runs before the market opens.
   */
  public Future<Void> start() {
    return accounts
        .listEnforced()
        .compose(
            holds ->
                BoundedWork.each(
                    holds.entrySet().iterator(),
                    held -> applyToClusters(held.getKey(), held.getValue())));
  }

  /** Checks some organizations; returns whether there are more in this round. */
  public Future<Boolean> step() {
    OptionalLong now = time.confirmedMillis();
    return checkLag(now)
        .compose(mayGoOn -> mayGoOn ? checkSome(now.getAsLong()) : Future.succeededFuture(false));
  }

  /** Reads only the lag of posting, which every process shows; always returns false. */
  public Future<Boolean> checkLag() {
    return checkLag(time.confirmedMillis()).map(mayGoOn -> false);
  }

  /**
   * Returns true if posting is current enough for holds to advance. The watermark is read without
   * confirmed time too, because missing confirmed time is the usual reason for a lag.
   */
  private Future<Boolean> checkLag(OptionalLong now) {
    return new WatermarkStore(database)
        .find()
        .map(
            through -> {
              if (through.isEmpty()) {
                return false;
              }
              throughMillis = through.get().throughMillis();
              if (now.isEmpty()) {
                return false;
              }
              note(now.getAsLong(), through.get().throughMillis());
              return !isWaiting;
            });
  }

  /** Logs when holds begin to wait and when they continue. */
  private void note(long now, long through) {
    boolean waits = now - through > MAX_BEHIND_MILLIS;
    if (waits && !isWaiting) {
      LOG.warn(
          "usage is posted only up to {}, more than {} hours ago: billing holds wait for it",
          Times.rfc3339(through),
          MAX_BEHIND_MILLIS / Usage.HOUR_MILLIS);
    } else if (isWaiting && !waits) {
      LOG.info("usage is posted up to {}: billing holds continue", Times.rfc3339(through));
    }
    isWaiting = waits;
  }

  /**
   * Returns the lag of posting, by this machine's clock; somewhat over an hour is normal. It grows
   * if the checks stop.
   */
  public long behindMillis() {
    Long through = throughMillis;
    return through == null ? 0 : Math.max(0, clock.millis() - through);
  }

  /** Returns true if holds wait for posting. */
  public boolean isWaiting() {
    return isWaiting;
  }

  private Future<Boolean> checkSome(long now) {
    return balances
        .listAfter(after, now)
        .compose(
            part -> {
              after = part.next().orElse("");
              List<Future<Balance>> moved = new ArrayList<>();
              part.balances()
                  .forEach(
                      balance ->
                          moved.add(
                              move(balance)
                                  .recover(e -> again(e, balance, CHECKS - 1))
                                  // The organization changed too often; the next round checks it.
                                  .recover(
                                      e ->
                                          e instanceof Holds.HoldMovedException
                                              ? Future.succeededFuture(balance)
                                              : Future.failedFuture(e))));
              return Future.join(moved).map(part.next().isPresent());
            });
  }

  /** Checks one organization now; returns its balance after the check. */
  Future<Balance> check(String orgId) {
    return check(orgId, CHECKS);
  }

  private Future<Balance> check(String orgId, int checksLeft) {
    return balances
        .get(orgId, time.confirmedMillis().orElseGet(clock::millis))
        .compose(balance -> move(balance).recover(e -> again(e, balance, checksLeft - 1)));
  }

  private Future<Balance> again(Throwable e, Balance balance, int checksLeft) {
    return e instanceof Holds.HoldMovedException && checksLeft > 0
        ? check(balance.account().orgId(), checksLeft)
        : Future.failedFuture(e);
  }

  private Future<Balance> move(Balance balance) {
    AccountStore.Account account = balance.account();
    HoldState before = account.hold();
    Switches switches = clusters.switches();
    HoldState next =
        before.next(
            balance.shortfall(switches.billingHoldEnforced(), switches.spendLimitEnforced()),
            config.graceMillis(),
            config.noticeMillis(),
            balance.atMillis());
    boolean isDeeper = next.stage().compareTo(before.stage()) > 0;
    if (next.equals(before) || (isDeeper && time.confirmedMillis().isEmpty())) {
      return account.held().equals(AccountStore.Held.NONE)
          ? Future.succeededFuture(balance)
          : applyToClusters(account.orgId(), account.held()).map(balance);
    }
    List<Statement> statements = new ArrayList<>(AccountStore.hold(account, next));
    statements.add(
        AuditStore.insert(
            new AuditRow(
                clock.millis(),
                account.orgId(),
                ACTOR,
                "billing_hold",
                account.orgId(),
                next.shown())));
    return stored(statements, balance, new AccountStore.Held(next, account.operatorHold()));
  }

  private Future<Balance> stored(
      List<Statement> statements, Balance balance, AccountStore.Held next) {
    AccountStore.Account account = balance.account();
    return database
        .commit(statements)
        .compose(stored -> loadClusters(account.orgId()))
        .compose(met -> applyToClusters(account.orgId(), next))
        .map(put -> new Balance(account.under(next), balance.accrued(), balance.atMillis()));
  }

  /**
   * Sets, changes or lifts an operator's hold on an organization; an automatic hold stays. Stores
   * nothing if the hold is unchanged.
   *
   * @param change computes the new hold from the current one
   * @param audit the row that records it
   * @return fails with {@code not-found} without the organization
   */
  Future<Balance> setOperatorHold(
      String orgId, UnaryOperator<OperatorHold> change, Function<OperatorHold, AuditRow> audit) {
    return setOperatorHold(orgId, change, audit, CHECKS);
  }

  private Future<Balance> setOperatorHold(
      String orgId,
      UnaryOperator<OperatorHold> change,
      Function<OperatorHold, AuditRow> audit,
      int triesLeft) {
    return balances
        .get(orgId)
        .compose(
            balance -> {
              AccountStore.Account account = balance.account();
              OperatorHold before = account.operatorHold();
              OperatorHold next = change.apply(before);
              if (next.equals(before)) {
                // A repeated request retries clusters that could not be reached the first time.
                return applyToClusters(orgId, account.held()).map(balance);
              }
              if (next.stage() != null && account.retired()) {
                throw ApiException.of(
                        ErrorCode.CONFLICT,
                        "organization %s is retired; nothing of it can be changed any more",
                        orgId)
                    .with("reason", "retired");
              }
              List<Statement> statements =
                  new ArrayList<>(AccountStore.operatorHold(orgId, before, next));
              statements.add(AuditStore.insert(audit.apply(next)));
              return stored(statements, balance, new AccountStore.Held(account.hold(), next));
            })
        .recover(
            e ->
                e instanceof Holds.HoldMovedException && triesLeft > 1
                    ? setOperatorHold(orgId, change, audit, triesLeft - 1)
                    : Future.failedFuture(e));
  }

  /** Loads clusters that another process has just created. */
  private Future<Void> loadClusters(String orgId) {
    return owners
        .meet(orgId)
        .otherwise(
            e -> {
              LOG.warn("the clusters of {} could not all be read: {}", orgId, e.toString());
              return null;
            });
  }

  /** The next round retries a cluster that cannot be reached now. */
  private Future<Void> applyToClusters(String orgId, AccountStore.Held state) {
    return applyToClusters(orgId, state, CHECKS);
  }

  private Future<Void> applyToClusters(String orgId, AccountStore.Held state, int triesLeft) {
    @Nullable Hold hold = state.clusterHold(config.noticeMillis());
    // A decision made before a payment must not undo the payment's effect.
    List<Statement> fences = List.of(AccountStore.fence(orgId, state));
    return BoundedWork.each(
            clusters.ofOrg(orgId).stream()
                .map(ClusterView::cluster)
                .filter(cluster -> !Objects.equals(cluster.hold(), hold))
                .map(Cluster::name)
                .iterator(),
            name -> owners.order(name, OperatorCommands.billingHold(hold), fences))
        .recover(
            e -> {
              if (e instanceof Holds.HoldMovedException && triesLeft > 1) {
                // The stored hold goes on all clusters, even if another process stored it.
                return balances
                    .get(orgId)
                    .compose(now -> applyToClusters(orgId, now.account().held(), triesLeft - 1));
              }
              LOG.warn(
                  "the hold of {} could not be put on all its clusters: {}", orgId, e.toString());
              return Future.succeededFuture();
            });
  }
}
