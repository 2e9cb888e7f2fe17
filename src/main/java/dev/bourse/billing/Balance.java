package dev.bourse.billing;

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

  /** Returns the part of the limit beside usage and commitments; null without a limit. */
  @Nullable Long remainingMicros(long committedMicros) {
    Long limit = account.limits().inForceMicros();
    return limit == null
        ? null
        : (Long) SpendLimit.remainingMicros(limit, monthMicros(), committedMicros);
  }
}
