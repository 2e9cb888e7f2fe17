package dev.bourse.billing;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.capacity.Hold;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Page;
import dev.bourse.core.Text;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** What operators do with organizations' money. */
public final class BillingAdminService {
  /**
   * Tries of a write of a limit. Each try fails only if another write of it was stored meanwhile.
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

  /** What an organization has, may spend and is held for; {@code not-found} without one. */
  public Future<BalanceView> readBilling(String orgId) {
    return billing.readBalance(orgId);
  }

  /** Every month's statement of an organization, newest first; {@code not-found} without one. */
  public Future<List<MonthStatement>> listStatements(String orgId) {
    return billing.listStatements(orgId);
  }

  /** One of them by cluster; {@code not-found} as members are told, and without an organization. */
  public Future<BillingService.Detailed> readStatement(String orgId, Month month) {
    return billing.readStatement(orgId, month);
  }

  /**
   * A page of an organization's usage lines; {@code not-found} without one, and for a cluster that
   * is not the organization's.
   */
  public Future<Page<BillingService.UsageLine>> listUsage(
      String orgId, BillingService.UsageQuery query) {
    return billing.listUsage(orgId, query);
  }

  /**
   * A page of an organization's ledger, newest first; {@code not-found} without one.
   *
   * @param before only transactions below this id
   */
  public Future<Page<LedgerStore.Posting>> listLedger(String orgId, long before, int limit) {
    return billing.listLedger(orgId, before, limit);
  }

  /** The moment from which usage is shown unless the caller says: the month's beginning. */
  public long monthStartMillis() {
    return billing.monthStartMillis();
  }

  /**
   * What became of a booking.
   *
   * @param isNew false when the same one was stored before
   */
  public record Booked(LedgerStore.Posting posting, boolean isNew, BalanceView balance) {}

  /**
   * Books money for an organization, and lifts its hold at once if that was what it lacked. Asking
   * again with the same key is harmless; with another amount, or another kind, it is a {@code
   * conflict}. Refused with {@code not-found} for no such organization.
   *
   * @param key the caller's own, unique among those of this organization
   * @param micros what the organization's balance grows by; negative for an adjustment alone
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
            e -> e instanceof Overtaken ? Future.succeededFuture(false) : Future.failedFuture(e))
        .compose(
            isNew ->
                ledger
                    .find(transaction.key())
                    .map(found -> same(found.orElseThrow(), kind, micros, key))
                    .compose(
                        posting ->
                            check(orgId).map(p -> new Booked(posting, isNew, billing.view(p)))));
  }

  /** What is stored must not read as if nothing had been. */
  private Future<Balance> check(String orgId) {
    return holds.check(orgId).recover(e -> Future.failedFuture(ApiError.storedOnly()));
  }

  private static LedgerStore.Posting same(
      LedgerStore.Posting stored, Ledger.Kind kind, long micros, String key) {
    if (stored.kind() != kind || stored.micros() != micros) {
      throw ApiError.of(
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
   * stays. A hold that the limit caused is lifted at once if the limit no longer causes it. Refused
   * with {@code not-found} for no such organization.
   *
   * @param micros at least 0; null for no limit
   */
  public Future<BalanceView> limit(String actor, String orgId, @Nullable Long micros) {
    return limit(actor, orgId, micros, limits -> limits.withOperator(micros), LIMIT_TRIES);
  }

  /**
   * Sets or deletes the members' limit; the operator's limit stays. Refused with {@code
   * bad-request} above the operator's limit.
   */
  Future<BalanceView> limitByMember(String actor, String orgId, @Nullable Long micros) {
    return limit(actor, orgId, micros, limits -> limits.withMember(micros), LIMIT_TRIES);
  }

  private Future<BalanceView> limit(
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
                e instanceof Overtaken && triesLeft > 1
                    ? Future.succeededFuture(false)
                    : Future.failedFuture(e))
        .compose(
            isStored ->
                isStored
                    ? check(orgId).map(billing::view)
                    : limit(actor, orgId, micros, change, triesLeft - 1));
  }

  /**
   * Holds an organization by hand: at once, for as long as no operator lifts it. Told the same
   * again, it stays as it is. Refused with {@code not-found}, and with {@code conflict} when it is
   * retired.
   *
   * @param actor the operator
   * @param reason why, as the organization reads it
   */
  public Future<BalanceView> hold(String actor, String orgId, Hold.Stage stage, String reason) {
    long now = clock.millis();
    return holds
        .byOperator(
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
   * Lifts an operator's hold; what the organization is held for by its money stays. Harmless when
   * there is none. Refused with {@code not-found}.
   */
  public Future<BalanceView> liftHold(String actor, String orgId) {
    long now = clock.millis();
    return holds
        .byOperator(
            orgId,
            before -> before.stage() == null ? before : before.lifted(now),
            held -> new AuditRow(now, orgId, actor, "org_hold_lift", orgId, ""))
        .map(billing::view);
  }

  /** The hold that an operator has put on an organization; {@code not-found} without one. */
  public Future<OperatorHold> readHold(String orgId) {
    return accounts.get(orgId, Month.at(clock.millis())).map(AccountStore.Account::operatorHold);
  }

  /** What organizations are held by. */
  public enum HeldBy {
    /** An operator's hand. */
    OPERATOR,
    /** Their balance or their limit, acted upon or not. */
    MONEY
  }

  /**
   * An organization that is held.
   *
   * @param hold the hold for its money, as contracts have it; null without one
   * @param operatorHold the hold by hand, as contracts have it; null without one
   */
  public record HeldOrg(
      String orgId, @Nullable JsonObject hold, @Nullable JsonObject operatorHold) {}

  /** A page of the organizations that are held, by id; the retired ones too. */
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
        BalanceView.hold(org.held().money(), billing.noticeMillis(), clock.millis()),
        org.held().byOperator().toJson());
  }

  /** Adds the whole ledger up and tells what does not fit. */
  public Future<LedgerStore.Report> verify() {
    return ledger.verify();
  }
}
