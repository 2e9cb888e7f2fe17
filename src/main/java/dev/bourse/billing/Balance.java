package dev.bourse.billing;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an organization has and used, as of one moment.
 *
 * @param account what is stored
 * @param accrued what usage that is not posted yet costs in each month of it, in micro-dollars
 * @param atMillis the moment
 */
record Balance(AccountStore.Account account, Map<Month, Long> accrued, long atMillis) {
  Balance {
    accrued = Map.copyOf(accrued);
  }

  /** What usage that is not posted costs. */
  long accruedMicros() {
    return accrued.values().stream().mapToLong(micros -> micros).sum();
  }

  /** What it has after all usage up to this moment. */
  long balanceMicros() {
    return account.postedMicros() - accruedMicros();
  }

  /** What it used since the month began. */
  long monthMicros() {
    return account.postedMonthMicros() + accrued.getOrDefault(Month.at(atMillis), 0L);
  }

  /** What it lacks. A retired organization lacks nothing: there is nothing of it to hold. */
  HoldState.Shortfall shortfall(boolean balanceEnforced, boolean spendLimitEnforced) {
    boolean used = account.everUsed() || !accrued.isEmpty();
    Long limit = account.limits().inForceMicros();
    return new HoldState.Shortfall(
        !account.retired() && used && balanceMicros() <= 0,
        !account.retired() && limit != null && monthMicros() >= limit,
        balanceEnforced,
        spendLimitEnforced);
  }

  /** What is left of the limit beside a commitment; null without a limit. */
  @Nullable Long remainingMicros(long committedMicros) {
    Long limit = account.limits().inForceMicros();
    return limit == null
        ? null
        : (Long) SpendLimit.remainingMicros(limit, monthMicros(), committedMicros);
  }
}
