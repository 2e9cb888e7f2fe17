package dev.bourse.billing;

import dev.bourse.billing.Usage.Line;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an organization has and used, as of one moment.
 *
 * @param account what is stored
 * @param accrued the lines of usage that is not posted yet, by hour and cluster
 * @param atMillis the moment
 */
record Balance(AccountStore.Account account, List<Line> accrued, long atMillis) {
  Balance {
    accrued = List.copyOf(accrued);
  }

  /** What usage that is not posted costs. */
  long accruedMicros() {
    return accrued.stream().mapToLong(Line::amountMicros).sum();
  }

  /** What it has after all usage up to this moment. */
  long balanceMicros() {
    return account.postedMicros() - accruedMicros();
  }

  /** What it used since the month began. */
  long monthMicros() {
    long begin = Month.at(atMillis).startMillis();
    return account.postedMonthMicros()
        + accrued.stream()
            .filter(line -> line.hourMillis() >= begin)
            .mapToLong(Line::amountMicros)
            .sum();
  }

  /** What it lacks. A retired organization lacks nothing: there is nothing of it to hold. */
  HoldState.Shortfall shortfall(boolean balanceEnforced, boolean spendLimitEnforced) {
    boolean used = account.everUsed() || !accrued.isEmpty();
    Long limit = account.limitMicros();
    return new HoldState.Shortfall(
        !account.retired() && used && balanceMicros() <= 0,
        !account.retired() && limit != null && monthMicros() >= limit,
        balanceEnforced,
        spendLimitEnforced);
  }

  /** What is left of the limit beside a commitment; null without a limit. */
  @Nullable Long remainingMicros(long committedMicros) {
    Long limit = account.limitMicros();
    return limit == null
        ? null
        : (Long) SpendLimit.remainingMicros(limit, monthMicros(), committedMicros);
  }
}
