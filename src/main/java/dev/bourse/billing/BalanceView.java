package dev.bourse.billing;

import dev.bourse.core.Times;
import dev.bourse.pools.Switches;
import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/** An organization's balance, limits and holds, as members and operators see them. */
public final class BalanceView {
  private final Balance balance;
  private final long committedMicros;
  private final Switches switches;
  private final long noticeMillis;

  BalanceView(Balance balance, long committedMicros, Switches switches, long noticeMillis) {
    this.balance = balance;
    this.committedMicros = committedMicros;
    this.switches = switches;
    this.noticeMillis = noticeMillis;
  }

  /** Returns the balance after all usage up to now, in micro-dollars. */
  public long balanceMicros() {
    return balance.balanceMicros();
  }

  /** Returns the answer of the contracts. */
  public JsonObject toJson() {
    AccountStore.Account account = balance.account();
    SpendLimits limits = account.limits();
    return new JsonObject()
        .put("org_id", account.orgId())
        .put("as_of", Times.rfc3339(balance.atMillis()))
        .put("balance_micros", balance.balanceMicros())
        .put("posted_micros", account.postedMicros())
        .put("accrued_micros", balance.accruedMicros())
        .put(
            "posted_through",
            account.throughMillis() == 0 ? null : Times.rfc3339(account.throughMillis()))
        .put("month", Month.at(balance.atMillis()).toString())
        .put("month_usage_micros", balance.monthMicros())
        .put("committed_micros", committedMicros)
        .put("spend_limit_micros", limits.inForceMicros())
        .put("spend_limit_member_micros", limits.memberMicros())
        .put("spend_limit_operator_micros", limits.operatorMicros())
        .put("spend_limit_set_by", SpendLimits.Setter.label(limits.setBy()))
        .put("spend_limit_remaining_micros", balance.remainingMicros(committedMicros))
        .put("spend_limit_enforced", switches.spendLimitEnforced())
        .put("billing_hold_enforced", switches.billingHoldEnforced())
        .put("hold", hold(account.hold(), noticeMillis, balance.atMillis()))
        .put("operator_hold", account.operatorHold().toJson());
  }

  /** Returns an automatic hold in the form of the contracts; null without one. */
  static @Nullable JsonObject hold(HoldState hold, long noticeMillis, long nowMillis) {
    HoldState.Reason reason = hold.reason();
    if (reason == null) {
      return null;
    }
    Long after = hold.enforceAfterMillis(noticeMillis);
    return new JsonObject()
        .put("stage", hold.stage().label())
        .put("reason", reason.label())
        .put("since", Times.rfc3339(hold.sinceMillis()))
        .put("enforced", hold.enforced())
        .put(
            "enforce_after_ms",
            after == null ? null : Long.valueOf(Math.max(0, after - nowMillis)));
  }
}
