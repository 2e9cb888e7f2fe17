package dev.bourse.market;

import java.util.Map;

/**
 * The result of a player's day. Amounts are in cents per GPU-hour, times node-hours.
 *
 * @param nodeHours node-hours that were active
 * @param usefulHours node-hours up to the demand
 * @param cents the amount billed for them
 * @param fairCents their cost if each hour were billed at the highest rival bid that the player's
 *     nodes keep out
 * @param surplus the value of the useful hours, less the bill
 * @param keptOutMinutes the minutes for which rivals waited while the player kept a node unused and
 *     unbilled
 * @param keptOutPerHour the same in the worst hour
 * @param violations the first violation of each invariant, by its name
 */
record PlayedResult(
    double nodeHours,
    double usefulHours,
    double cents,
    double fairCents,
    double surplus,
    double keptOutMinutes,
    double keptOutPerHour,
    Map<String, String> violations) {

  double rate() {
    return nodeHours == 0 ? 0 : cents / nodeHours;
  }

  /**
   * Returns how much better a strategy is than the truthful bid: the lesser growth of its surplus
   * and of its discount on the fair price, as a part of the day's fair price. A strategy that only
   * asks for less has a larger surplus in any auction with one price, but no larger discount.
   *
   * @param leastCents the least cost of the demand of a day
   */
  double gainOver(PlayedResult truthful, double leastCents) {
    double scale = Math.max(leastCents, Math.max(truthful.fairCents, fairCents));
    double discount = fairCents - cents - (truthful.fairCents - truthful.cents);
    return Math.min(surplus - truthful.surplus, discount) / scale;
  }

  @Override
  public String toString() {
    return ("%.1f node-hours at %.0f, fair %.0f, surplus %.0f; rivals kept out %.0f min, %.0f in an"
            + " hour; %s")
        .formatted(
            nodeHours,
            rate(),
            nodeHours == 0 ? 0 : fairCents / nodeHours,
            surplus,
            keptOutMinutes,
            keptOutPerHour,
            violations);
  }
}
