package dev.bourse.billing;

import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Determines the final months: those that are over and fully posted. */
public final class FinalMonths {
  private final WatermarkStore watermarks;
  private final LedgerStore ledger;

  public FinalMonths(Database database) {
    this.watermarks = new WatermarkStore(database);
    this.ledger = new LedgerStore(database);
  }

  /**
   * A month that is final for an organization.
   *
   * @param hasStatement false for months before the organization's first transaction
   */
  public record FinalMonth(Month month, boolean hasStatement) {}

  /**
   * Returns the last month that is final for all organizations, except those with a watermark of
   * their own; empty before the first posting.
   */
  public Future<Optional<Month>> findLast() {
    return watermarks.find().map(found -> found.map(common -> lastBefore(common.throughMillis())));
  }

  /**
   * Returns the months after one that are final for an organization, up to a limit, oldest first.
   */
  public Future<List<FinalMonth>> listAfter(String orgId, Month after, int most) {
    return Future.all(
            watermarks.find(), watermarks.list(List.of(orgId)), ledger.findFirstMonth(orgId))
        .map(
            read -> {
              Optional<WatermarkStore.Common> common = read.resultAt(0);
              Long own = read.<Map<String, Long>>resultAt(1).get(orgId);
              Optional<Month> first = read.resultAt(2);
              return common
                  .map(posted -> lastBefore(own == null ? posted.throughMillis() : own))
                  .map(last -> between(after, last, first, most))
                  .orElse(List.of());
            });
  }

  private static List<FinalMonth> between(
      Month after, Month last, Optional<Month> first, int most) {
    List<FinalMonth> months = new ArrayList<>();
    for (Month month = after.next();
        month.number() <= last.number() && months.size() < most;
        month = month.next()) {
      long number = month.number();
      months.add(
          new FinalMonth(month, first.filter(begun -> begun.number() <= number).isPresent()));
    }
    return months;
  }

  /** Returns the last month that is over at a watermark. */
  private static Month lastBefore(long throughMillis) {
    return Month.at(Month.at(throughMillis).startMillis() - 1);
  }
}
