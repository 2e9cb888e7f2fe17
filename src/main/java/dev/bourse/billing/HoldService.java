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
import dev.bourse.core.ApiError;
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
 * Moves the holds of organizations and puts them on their clusters. {@link #step} looks at
 * everybody, a page at a time; {@link #check} at one after a payment.
 *
 * <p>A cluster is made under the hold of its organization, in one commit; and a hold that moves is
 * put on every cluster that is stored by then. So none is ever without it for long enough to be
 * granted what the hold keeps from it, whichever came first.
 *
 * <p>Holds go on by confirmed time alone, for what they end in cannot be undone; while there is
 * none, they are lifted and not begun.
 */
public final class HoldService implements Holds {
  private static final Logger LOG = LoggerFactory.getLogger(HoldService.class);

  /** How often one look is begun anew because the hold or the money moved meanwhile. */
  private static final int CHECKS = 5;

  /** Actor of all that billing does by itself. */
  static final String ACTOR = "system:billing";

  /**
   * While posting is further behind than this, looking at everybody would compute long stretches of
   * usage again and again; posting catches up within seconds or minutes. Meanwhile no hold begins
   * or goes on, which is logged and shown.
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

  // Touched by one step at a time.
  private String after = "";

  /** Up to when usage was posted at the last look; null before any, or with nothing posted. */
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
                    account.held().onClusters(config.noticeMillis()),
                    List.of(AccountStore.known(orgId), AccountStore.fence(orgId, account.held()))));
  }

  /**
   * Puts the holds in force on clusters that lack them: those that a process which ended had no
   * time for, and those a world file has added. Before the market opens.
   */
  public Future<Void> start() {
    return accounts
        .listEnforced()
        .compose(
            holds ->
                BoundedWork.each(
                    holds.entrySet().iterator(),
                    held -> putOnClusters(held.getKey(), held.getValue())));
  }

  /** Looks at some organizations; whether there are more in this round. */
  public Future<Boolean> step() {
    OptionalLong now = time.confirmedMillis();
    return look(now)
        .compose(mayGoOn -> mayGoOn ? checkSome(now.getAsLong()) : Future.succeededFuture(false));
  }

  /** Looks only how far posting is, which every process shows; tells that there is no more. */
  public Future<Boolean> look() {
    return look(time.confirmedMillis()).map(mayGoOn -> false);
  }

  /**
   * Whether usage is posted so far that holds may move. How far it is posted is read while no time
   * is confirmed too: that is why it falls behind, most often.
   */
  private Future<Boolean> look(OptionalLong now) {
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

  /** Logs when holds begin to wait and when they continue; nobody would notice otherwise. */
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
   * How far posting is behind, by this machine's clock; up to an hour and a little is as it should
   * be. It grows by itself when nobody looks any more.
   */
  public long behindMillis() {
    Long through = throughMillis;
    return through == null ? 0 : Math.max(0, clock.millis() - through);
  }

  /** Whether holds wait for posting. */
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
                                  // Crowded out, it is looked at in the next round.
                                  .recover(
                                      e ->
                                          e instanceof Holds.Moved
                                              ? Future.succeededFuture(balance)
                                              : Future.failedFuture(e))));
              return Future.join(moved).map(part.next().isPresent());
            });
  }

  /** Looks at one organization now; answers what it comes to. */
  Future<Balance> check(String orgId) {
    return check(orgId, CHECKS);
  }

  private Future<Balance> check(String orgId, int checksLeft) {
    return balances
        .get(orgId, time.confirmedMillis().orElseGet(clock::millis))
        .compose(balance -> move(balance).recover(e -> again(e, balance, checksLeft - 1)));
  }

  private Future<Balance> again(Throwable e, Balance balance, int checksLeft) {
    return e instanceof Holds.Moved && checksLeft > 0
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
          : putOnClusters(account.orgId(), account.held()).map(balance);
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
        .compose(stored -> meetClusters(account.orgId()))
        .compose(met -> putOnClusters(account.orgId(), next))
        .map(put -> new Balance(account.under(next), balance.accrued(), balance.atMillis()));
  }

  /**
   * Puts an operator's hold on an organization at once, moves it, or lifts it; whatever it is held
   * for by its money stays. Nothing is stored when it is so already.
   *
   * @param change what the hold becomes of what it is, at this moment
   * @param audit the row that records it
   * @return fails with {@code not-found} for no such organization
   */
  Future<Balance> byOperator(
      String orgId, UnaryOperator<OperatorHold> change, Function<OperatorHold, AuditRow> audit) {
    return byOperator(orgId, change, audit, CHECKS);
  }

  private Future<Balance> byOperator(
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
                // Told again, perhaps as a cluster could not be reached the first time.
                return putOnClusters(orgId, account.held()).map(balance);
              }
              if (next.stage() != null && account.retired()) {
                throw ApiError.of(
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
                e instanceof Holds.Moved && triesLeft > 1
                    ? byOperator(orgId, change, audit, triesLeft - 1)
                    : Future.failedFuture(e));
  }

  /** Those made by another process just now, which this one has not heard of. */
  private Future<Void> meetClusters(String orgId) {
    return owners
        .meet(orgId)
        .otherwise(
            e -> {
              LOG.warn("the clusters of {} could not all be read: {}", orgId, e.toString());
              return null;
            });
  }

  /** A cluster that cannot be reached now is put right in the next round. */
  private Future<Void> putOnClusters(String orgId, AccountStore.Held state) {
    return putOnClusters(orgId, state, CHECKS);
  }

  private Future<Void> putOnClusters(String orgId, AccountStore.Held state, int triesLeft) {
    @Nullable Hold hold = state.onClusters(config.noticeMillis());
    // What was found out before a payment must not undo what the payment did.
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
              if (e instanceof Holds.Moved && triesLeft > 1) {
                // What is stored now goes on all clusters, whoever stored it.
                return balances
                    .get(orgId)
                    .compose(now -> putOnClusters(orgId, now.account().held(), triesLeft - 1));
              }
              LOG.warn(
                  "the hold of {} could not be put on all its clusters: {}", orgId, e.toString());
              return Future.succeededFuture();
            });
  }
}
