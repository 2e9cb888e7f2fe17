package dev.bourse.billing;

import dev.bourse.capacity.Conditions;
import dev.bourse.market.Spent;
import java.util.List;

/** A model of a budget's spending: the posted part and the part accrued since. */
public final class SpentModel {
  private SpentModel() {}

  /**
   * Returns the spending, and the time at which the budget was used up.
   *
   * @param postedCentGpuMillis posted since the budget was set
   * @param fromMillis end of the posted part
   * @param accrued the spans after it, in order
   */
  public static Spent spent(
      Conditions.Budget budget,
      long postedCentGpuMillis,
      long fromMillis,
      List<Usage.Span> accrued) {
    BudgetUse.Tally tally = new BudgetUse.Tally(budget, postedCentGpuMillis, fromMillis);
    tally.add(accrued);
    return tally.spent();
  }
}
