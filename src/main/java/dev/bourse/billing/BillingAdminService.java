package dev.bourse.billing;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.capacity.Hold;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Page;
import dev.bourse.core.Text;
import dev.bourse.schemas.common.BalanceJson;
import dev.bourse.schemas.common.HoldJson;
import dev.bourse.schemas.common.OperatorHoldJson;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Operations of operators on organizations' money. */
public final class BillingAdminService {
  /**
   * Attempts of a write of a limit. An attempt fails only if another write of it was stored
   * concurrently.
   */
  private static final int LIMIT_TRIES = 5;

  private final Database database;
  private final AccountStore accounts;
  private final LedgerStore ledger;
  private final BillingService billing;
  private final HoldService holds;
  private final Clock clock;

  public BillingAdminService(
      Database database, BillingService billing, HoldService holds, Clock clock) {
    this.database = database;
    this.accounts = new AccountStore(database);
    this.ledger = new LedgerStore(database);
    this.billing = billing;
    this.holds = holds;
    this.clock = clock;
  }

  /**
   * Returns an organization's balance, limits and holds; fails with {@code not-found} without one.
   */
  public Future<BalanceJson> readBilling(String orgId) {
    return billing.readBalance(orgId);
  }

  /**
   * Returns every month's statement of an organization, newest first; fails with {@code not-found}
   * without one.
   */
  public Future<List<MonthStatement>> listStatements(String orgId) {
    return billing.listStatements(orgId);
  }

  /**
   * Returns one statement by cluster; fails with {@code not-found} like the members' operation, and
   * without an organization.
   */
  public Future<BillingService.Detailed> readStatement(String orgId, Month month) {
    return billing.readStatement(orgId, month);
  }

  /**
   * Returns a page of an organization's usage lines; fails with {@code not-found} without one, and
   * for a cluster of another organization. Parameters are those of {@link
   * BillingService#usageQuery}.
   */
  public Future<Page<BillingService.UsageLine>> listUsage(
      String orgId,
      Optional<String> cluster,
      Optional<String> from,
      Optional<String> to,
      Optional<String> after,
      int limit) {
    return billing.listUsage(orgId, billing.usageQuery(cluster, from, to, after, limit));
  }

  /**
   * Returns a page of an organization's ledger, newest first; fails with {@code not-found} without
   * one.
   *
   * @param before only transactions below this id
   */
  public Future<Page<LedgerStore.Posting>> listLedger(String orgId, long before, int limit) {
    return billing.listLedger(orgId, before, limit);
  }

  /**
   * The result of a booking.
   *
   * @param isNew false if the same booking was stored before
   */
  public record Booked(LedgerStore.Posting posting, boolean isNew, BalanceJson balance) {}

  /**
   * Books money for an organization, and lifts its hold at once if that covers the shortfall. A
   * repeated key returns the first booking; with another amount or kind it fails with {@code
   * conflict}. Fails with {@code not-found} without the organization.
   *
   * @param key idempotency key, unique among those of this organization
   * @param micros change of the balance; negative for an adjustment only
   */
  public Future<Booked> book(
      String actor, Ledger.Kind kind, String orgId, String key, long micros, String memo) {
    long now = clock.millis();
    Ledger.Transaction transaction = Ledger.given(kind, orgId, key, micros, actor, memo, now);
    List<Statement> statements = new ArrayList<>(LedgerStore.insert(transaction));
    statements.add(
        AuditStore.insert(
            new AuditRow(
                now,
                orgId,
                actor,
                "billing_" + kind.label(),
                orgId,
                "amount_micros=" + micros + " idempotency_key=" + Text.shown(key))));
    return accounts
        .get(orgId, Month.at(now))
        .compose(exists -> database.commit(statements))
        .map(true)
        .recover(
            e ->
                e instanceof ConcurrentUpdateException
                    ? Future.succeededFuture(false)
                    : Future.failedFuture(e))
        .compose(
            isNew ->
                ledger
                    .find(transaction.key())
                    .map(found -> same(found.orElseThrow(), kind, micros, key))
                    .compose(
                        posting ->
                            check(orgId).map(p -> new Booked(posting, isNew, billing.view(p)))));
  }

  /** The booking is stored, so a failure of the check must not read as if it were not. */
  private Future<Balance> check(String orgId) {
    return holds.check(orgId).recover(e -> Future.failedFuture(ApiException.storedOnly()));
  }

  private static LedgerStore.Posting same(
      LedgerStore.Posting stored, Ledger.Kind kind, long micros, String key) {
    if (stored.kind() != kind || stored.micros() != micros) {
      throw ApiException.of(
              ErrorCode.CONFLICT,
              "idempotency_key: %s is of a %s of %d micro-dollars; nothing was written",
              Text.shown(key),
              stored.kind().label(),
              stored.micros())
          .with("reason", "exists");
    }
    return stored;
  }

  /**
   * Sets or deletes the operator's monthly spend limit of an organization; the members' limit
   * stays. A hold that the limit caused is lifted at once if the limit no longer causes it. Fails
   * with {@code not-found} without the organization.
   *
   * @param micros at least 0; null for no limit
   */
  public Future<BalanceJson> limit(String actor, String orgId, @Nullable Long micros) {
    return limit(actor, orgId, micros, limits -> limits.withOperator(micros), LIMIT_TRIES);
  }

  /**
   * Sets or deletes the members' limit; the operator's limit stays. Fails with {@code bad-request}
   * above the operator's limit.
   */
  Future<BalanceJson> limitByMember(String actor, String orgId, @Nullable Long micros) {
    return limit(actor, orgId, micros, limits -> limits.withMember(micros), LIMIT_TRIES);
  }

  private Future<BalanceJson> limit(
      String actor,
      String orgId,
      @Nullable Long micros,
      UnaryOperator<SpendLimits> change,
      int triesLeft) {
    long now = clock.millis();
    AuditRow row =
        new AuditRow(
            now,
            orgId,
            actor,
            micros == null ? "spend_limit_clear" : "spend_limit_set",
            orgId,
            micros == null ? "" : "limit_micros=" + micros);
    return accounts
        .get(orgId, Month.at(now))
        .compose(
            account -> {
              SpendLimits seen = account.limits();
              List<Statement> statements =
                  new ArrayList<>(AccountStore.limits(orgId, seen, change.apply(seen)));
              statements.add(AuditStore.insert(row));
              return database.commit(statements);
            })
        .map(true)
        .recover(
            e ->
                e instanceof ConcurrentUpdateException && triesLeft > 1
                    ? Future.succeededFuture(false)
                    : Future.failedFuture(e))
        .compose(
            isStored ->
                isStored
                    ? check(orgId).map(billing::view)
                    : limit(actor, orgId, micros, change, triesLeft - 1));
  }

  /**
   * Puts an organization on hold until an operator lifts the hold. Repeating the same hold changes
   * nothing. Fails with {@code not-found}, and with {@code conflict} if the organization is
   * retired.
   *
   * @param actor the operator
   * @param reason shown to the organization
   */
  public Future<BalanceJson> hold(String actor, String orgId, Hold.Stage stage, String reason) {
    long now = clock.millis();
    return holds
        .setOperatorHold(
            orgId,
            before ->
                before.stage() == stage && reason.equals(before.reason())
                    ? before
                    : new OperatorHold(stage, now, reason, actor),
            held ->
                new AuditRow(
                    now,
                    orgId,
                    actor,
                    "org_hold",
                    orgId,
                    "stage=%s reason=%s".formatted(stage.label(), Text.shown(reason))))
        .map(billing::view);
  }

  /**
   * Lifts an operator's hold; an automatic hold stays. Has no effect without a hold. Fails with
   * {@code not-found}.
   */
  public Future<BalanceJson> liftHold(String actor, String orgId) {
    long now = clock.millis();
    return holds
        .setOperatorHold(
            orgId,
            before -> before.stage() == null ? before : before.lifted(now),
            held -> new AuditRow(now, orgId, actor, "org_hold_lift", orgId, ""))
        .map(billing::view);
  }

  /** Returns the operator's hold on an organization; fails with {@code not-found} without one. */
  public Future<OperatorHold> readHold(String orgId) {
    return accounts.get(orgId, Month.at(clock.millis())).map(AccountStore.Account::operatorHold);
  }

  /** The kinds of holds. */
  public enum HeldBy {
    /** Set by an operator. */
    OPERATOR,
    /** Set automatically because of a balance or a limit, enforced or not. */
    MONEY
  }

  /**
   * An organization on hold.
   *
   * @param hold the automatic hold; null without one
   * @param operatorHold the operator's hold; null without one
   */
  public record HeldOrg(
      String orgId, @Nullable HoldJson hold, @Nullable OperatorHoldJson operatorHold) {}

  /** Returns a page of the organizations on hold, by id, retired ones included. */
  public Future<Page<HeldOrg>> listHeld(HeldBy by, int limit, Optional<String> after) {
    String from = after.orElse("");
    return (by == HeldBy.OPERATOR
            ? accounts.listHeldByOperators(from, limit + 1)
            : accounts.listHeldForMoney(from, limit + 1))
        .map(found -> Page.of(found.stream().map(this::shown).toList(), limit));
  }

  private HeldOrg shown(AccountStore.HeldOrg org) {
    return new HeldOrg(
        org.orgId(),
        org.held().money().toJson(billing.noticeMillis(), clock.millis()),
        org.held().byOperator().toJson());
  }

  /** Verifies the sums of the whole ledger. */
  public Future<LedgerStore.Report> verify() {
    return ledger.verify();
  }
}
