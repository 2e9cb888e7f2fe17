package dev.bourse.billing;

import dev.bourse.schemas.common.StatementClusterJson;
import dev.bourse.schemas.common.StatementJson;
import dev.bourse.schemas.common.StatementListJson;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * The changes of an organization's balance in one month, in micro-dollars. The closing balance of a
 * month is the opening balance of the next.
 *
 * @param isFinal whether the month is over and fully posted
 * @param usageMicros billed usage; positive
 * @param creditMicros credits given by the platform
 * @param paymentMicros payments received
 * @param adjustmentMicros credits taken back; negative
 */
public record MonthStatement(
    Month month,
    boolean isFinal,
    long openingMicros,
    long usageMicros,
    long creditMicros,
    long paymentMicros,
    long adjustmentMicros) {

  /** Returns the balance at the end of the month, or now. */
  public long closingMicros() {
    return openingMicros - usageMicros + creditMicros + paymentMicros + adjustmentMicros;
  }

  /** A cluster's part of a month. */
  public record ClusterPart(String cluster, long gpuMillis, long amountMicros) {
    StatementClusterJson toJson() {
      return new StatementClusterJson(cluster, gpuMillis, amountMicros);
    }
  }

  /** Returns statements as the contracts show them. */
  public static StatementListJson list(List<MonthStatement> all) {
    return new StatementListJson(all.stream().map(MonthStatement::toJson).toList());
  }

  private StatementJson toJson() {
    return new StatementJson(
        month.toString(),
        isFinal,
        openingMicros,
        usageMicros,
        creditMicros,
        paymentMicros,
        adjustmentMicros,
        closingMicros());
  }

  /** Returns every month from the first transaction to the present, newest first. */
  static List<MonthStatement> all(List<LedgerStore.MonthlySum> moved, Balance balance) {
    TreeMap<Long, long[]> months = new TreeMap<>();
    for (LedgerStore.MonthlySum sum : moved) {
      parts(months, sum.month())[part(sum.kind())] += sum.micros();
    }
    balance
        .accrued()
        .forEach((month, micros) -> parts(months, month)[part(Ledger.Kind.USAGE)] -= micros);
    Month present = Month.at(balance.atMillis());
    parts(months, present);
    List<MonthStatement> statements = new ArrayList<>();
    long opening = 0;
    Month month = Month.ofNumber(months.firstKey());
    while (month.number() <= present.number()) {
      long[] sums = months.getOrDefault(month.number(), new long[4]);
      MonthStatement statement =
          new MonthStatement(
              month,
              month.endMillis() <= balance.account().throughMillis(),
              opening,
              -sums[0],
              sums[1],
              sums[2],
              sums[3]);
      statements.add(0, statement);
      opening = statement.closingMicros();
      month = Month.at(month.endMillis());
    }
    return statements;
  }

  private static long[] parts(TreeMap<Long, long[]> months, Month month) {
    return months.computeIfAbsent(month.number(), number -> new long[4]);
  }

  private static int part(Ledger.Kind kind) {
    return switch (kind) {
      case USAGE -> 0;
      case CREDIT -> 1;
      case PAYMENT -> 2;
      case ADJUSTMENT -> 3;
    };
  }
}
