package dev.bourse.capacity;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One entry of a cluster's activity. A request entry is also a change point of what was declared,
 * which the history reads.
 *
 * @param kind {@code request} or {@code action}
 * @param actor who caused it
 * @param who {@code user} for the organization's own declaration, {@code system} otherwise
 * @param maxGpus what a request declared, null for an action
 * @param ceilingCents what a request declared, null for an action
 * @param note what an action did, carrying the node's public IP; null for a request
 * @param reason why a node was released, null otherwise
 */
public record Activity(
    String kind,
    String actor,
    String who,
    @Nullable Integer maxGpus,
    @Nullable Long ceilingCents,
    @Nullable String note,
    @Nullable String reason) {

  /** The actor of what the market does by itself. */
  static final String MARKET = "system:market";

  /** The actor of what billing does by itself. */
  static final String BILLING = "system:billing";

  public static Activity request(String actor, int maxGpus, long ceilingCents) {
    return new Activity("request", actor, "user", maxGpus, ceilingCents, null, null);
  }

  static Activity granted(Allocation allocation) {
    return action(MARKET, "granted " + allocation.publicIp(), null);
  }

  static Activity released(String actor, Allocation allocation, Allocation.Reason reason) {
    return action(actor, "released " + allocation.publicIp(), reason.label());
  }

  static Activity unwound(Allocation allocation, String cause) {
    return action(MARKET, "grant of " + allocation.publicIp() + " unwound: " + cause, null);
  }

  static Activity lapsed(Allocation allocation) {
    return action(MARKET, "swap of " + allocation.publicIp() + " lapsed", null);
  }

  static Activity pinned(Allocation allocation) {
    return action(
        MARKET, "swap of " + allocation.publicIp() + " ended: an operator pinned it", null);
  }

  static Activity held(@Nullable Hold hold) {
    return action(
        BILLING,
        hold == null
            ? "billing hold lifted"
            : "billing hold "
                + hold.stage().name().toLowerCase(Locale.ROOT)
                + " because of "
                + hold.reason(),
        null);
  }

  private static Activity action(String actor, String note, @Nullable String reason) {
    return new Activity(
        "action", actor, actor.startsWith("system:") ? "system" : "user", null, null, note, reason);
  }
}
