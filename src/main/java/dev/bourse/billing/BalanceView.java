package dev.bourse.billing;

import dev.bourse.capacity.Switches;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/** What an organization has, may spend and is held for, as members and operators see it. */
public final class BalanceView {
  private final Position position;
  private final long committedMicros;
  private final Switches switches;
  private final long noticeMillis;

  BalanceView(Position position, long committedMicros, Switches switches, long noticeMillis) {
    this.position = position;
    this.committedMicros = committedMicros;
    this.switches = switches;
    this.noticeMillis = noticeMillis;
  }

  /** What it has after all usage up to now, in micro-dollars. */
  public long balanceMicros() {
    return position.balanceMicros();
  }

  /** The answer of the contracts. */
  public JsonObject toJson() {
    AccountStore.AccountSnapshot standing = position.standing();
    return new JsonObject()
        .put("org_id", standing.orgId())
        .put("as_of", Times.rfc3339(position.atMillis()))
        .put("balance_micros", position.balanceMicros())
        .put("posted_micros", standing.postedMicros())
        .put("accrued_micros", position.accruedMicros())
        .put(
            "posted_through",
            standing.throughMillis() == 0 ? null : Times.rfc3339(standing.throughMillis()))
        .put("month", Month.at(position.atMillis()).toString())
        .put("month_usage_micros", position.monthMicros())
        .put("committed_micros", committedMicros)
        .put("spend_limit_micros", standing.limitMicros())
        .put("spend_limit_remaining_micros", position.remainingMicros(committedMicros))
        .put("spend_limit_enforced", switches.spendLimitEnforced())
        .put("billing_hold_enforced", switches.billingHoldEnforced())
        .put("hold", hold(standing.hold()));
  }

  private @Nullable JsonObject hold(HoldState hold) {
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
            after == null ? null : Long.valueOf(Math.max(0, after - position.atMillis())));
  }
}
