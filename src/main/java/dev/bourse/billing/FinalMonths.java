package dev.bourse.billing;

import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Which months are final: they are over, and all their usage is posted. */
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
   * @param hasStatement whether there is a statement of it: there is none of months before anything
   *     happened to the balance
   */
  public record FinalMonth(Month month, boolean hasStatement) {}

  /**
   * The last month that is final for all organizations but those whose usage could not be posted as
   * far; empty before the first posting.
   */
  public Future<Optional<Month>> findLast() {
    return watermarks.find().map(found -> found.map(common -> lastBefore(common.throughMillis())));
  }

  /** The months after one that are final for an organization, so many at most, oldest first. */
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

  /** The last month that is over at a moment up to which usage is posted. */
  private static Month lastBefore(long throughMillis) {
    return Month.at(Month.at(throughMillis).startMillis() - 1);
  }
}
