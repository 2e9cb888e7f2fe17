package dev.bourse.billing;

import dev.bourse.capacity.Declaration;
import dev.bourse.market.Spent;
import java.util.List;

/** What is spent of a budget, as the service counts it from what is posted and what came after. */
public final class SpentModel {
  private SpentModel() {}

  /**
   * What is spent, and when that was all of it.
   *
   * @param postedCentGpuMillis what is posted since the budget was set
   * @param fromMillis up to when that is
   * @param accrued what came after, in order
   */
  public static Spent spent(
      Declaration.Budget budget,
      long postedCentGpuMillis,
      long fromMillis,
      List<Usage.Span> accrued) {
    BudgetUse.Tally tally = new BudgetUse.Tally(budget, postedCentGpuMillis, fromMillis);
    tally.add(accrued);
    return tally.spent();
  }
}
