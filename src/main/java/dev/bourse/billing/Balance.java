package dev.bourse.billing;

import dev.bourse.pools.Switches;
import dev.bourse.schemas.common.BalanceJson;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An organization's balance and usage at one moment.
 *
 * @param account the stored account
 * @param accrued cost of unposted usage by month, in micro-dollars
 * @param atMillis the moment
 */
record Balance(AccountStore.Account account, Map<Month, Long> accrued, long atMillis) {
  Balance {
    accrued = Map.copyOf(accrued);
  }

  /** Returns the cost of unposted usage. */
  long accruedMicros() {
    return accrued.values().stream().mapToLong(micros -> micros).sum();
  }

  /** Returns the balance after all usage up to this moment. */
  long balanceMicros() {
    return account.postedMicros() - accruedMicros();
  }

  /** Returns the usage of this month so far. */
  long monthMicros() {
    return account.postedMonthMicros() + accrued.getOrDefault(Month.at(atMillis), 0L);
  }

  /**
   * Returns the organization's shortfall. A retired organization has none, because it has nothing
   * to hold.
   */
  HoldState.Shortfall shortfall(boolean balanceEnforced, boolean spendLimitEnforced) {
    boolean used = account.everUsed() || !accrued.isEmpty();
    Long limit = account.limits().inForceMicros();
    return new HoldState.Shortfall(
        !account.retired() && used && balanceMicros() <= 0,
        !account.retired() && limit != null && monthMicros() >= limit,
        balanceEnforced,
        spendLimitEnforced);
  }

  /**
   * Returns the balance as members and operators see it.
   *
   * @param noticeMillis length of a hold's notice
   */
  BalanceJson toJson(long committedMicros, Switches switches, long noticeMillis) {
    SpendLimits limits = account.limits();
    return new BalanceJson(
        account.orgId(),
        atMillis,
        balanceMicros(),
        account.postedMicros(),
        accruedMicros(),
        account.throughMillis() == 0 ? null : (Long) account.throughMillis(),
        Month.at(atMillis).toString(),
        monthMicros(),
        committedMicros,
        limits.inForceMicros(),
        limits.memberMicros(),
        limits.operatorMicros(),
        SpendLimits.Setter.label(limits.setBy()),
        remainingMicros(committedMicros),
        switches.spendLimitEnforced(),
        switches.billingHoldEnforced(),
        account.hold().toJson(noticeMillis, atMillis),
        account.operatorHold().toJson());
  }

  /** Returns the part of the limit beside usage and commitments; null without a limit. */
  @Nullable Long remainingMicros(long committedMicros) {
    Long limit = account.limits().inForceMicros();
    return limit == null
        ? null
        : (Long) SpendLimit.remainingMicros(limit, monthMicros(), committedMicros);
  }
}
