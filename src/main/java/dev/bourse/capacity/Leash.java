package dev.bourse.capacity;

import dev.bourse.access.TokenLimits;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import org.jspecify.annotations.Nullable;

/**
 * What the declarations of a writer are held to. A write that raises nothing always passes, and so
 * does one of no GPUs: whoever is beyond a limit, by their own doing or another's, can still give
 * back what is held.
 *
 * @param tokenId the token that writes; empty for a member
 * @param grantId the consent by which an application writes for a member, null for anybody else
 * @param limits how far it may go
 * @param elsewhereCents what the other clusters that it declared last may cost an hour, in cents
 */
public record Leash(
    String tokenId, @Nullable String grantId, TokenLimits limits, long elsewhereCents) {

  /** Holds nothing back. */
  public static final Leash NONE = new Leash("", null, TokenLimits.NONE, 0);

  /**
   * Whether a declaration commits to more than the standing one in any respect: more GPUs, a higher
   * ceiling, for longer, or for more money.
   */
  static boolean isRaise(@Nullable Declaration standing, Declaration next) {
    if (next.maxGpus() == 0) {
      return false;
    }
    return standing == null
        || next.maxGpus() > standing.maxGpus()
        || next.ceilingCents() > standing.ceilingCents()
        || isLonger(standing.untilMillis(), next.untilMillis())
        || isDearer(standing.budget(), next.budget());
  }

  private static boolean isLonger(@Nullable Long standing, @Nullable Long next) {
    return standing != null && (next == null || next > standing);
  }

  /** One that is set anew counts from then on, whatever the one before had spent. */
  private static boolean isDearer(
      Conditions.@Nullable Budget standing, Conditions.@Nullable Budget next) {
    return standing != null
        && (next == null
            || next.maxSpendCents() > standing.maxSpendCents()
            || next.sinceMillis() != standing.sinceMillis());
  }

  /** What a declaration may cost an hour. */
  static long hourlyCents(@Nullable Declaration declared) {
    return declared == null ? 0 : declared.maxGpus() * declared.ceilingCents();
  }

  /**
   * Whether a cluster's declaration counts with the writer's: the writer made it.
   *
   * @param actor how the writer is recorded
   */
  boolean wrote(String actor, Declaration declared) {
    return declared.updatedBy().equals(actor)
        && (grantId == null || grantId.equals(declared.write().grantId()));
  }

  /**
   * Refuses a declaration beyond a limit.
   *
   * @param standing what it replaces, null for the first
   * @throws ApiException {@code token-limit}, naming the first limit it passes and what would do
   */
  void require(Cluster cluster, @Nullable Declaration standing, Declaration next, long nowMillis) {
    if (limits.isNone() || !isRaise(standing, next)) {
      return;
    }
    requireGpus(next);
    requirePrice(cluster, next);
    requireHourly(next);
    requireLease(next, nowMillis);
  }

  private void requireGpus(Declaration next) {
    Integer most = limits.maxGpus();
    if (most != null && next.maxGpus() > most) {
      throw beyond(
          TokenLimits.MAX_GPUS,
          "max_gpus " + next.maxGpus(),
          "at most " + most,
          most.doubleValue());
    }
  }

  private void requirePrice(Cluster cluster, Declaration next) {
    Long most = limits.maxPriceCents();
    if (most != null && next.ceilingCents() > most) {
      throw beyond(
          TokenLimits.MAX_PRICE,
          Capacity.priceField(cluster) + ' ' + Price.shown(next.ceilingCents()),
          "at most " + Price.shown(most),
          Price.toUsd(most));
    }
  }

  private void requireHourly(Declaration next) {
    Long most = limits.maxHourlyCents();
    long left = most == null ? Long.MAX_VALUE : Math.max(0, most - elsewhereCents);
    if (most != null && hourlyCents(next) > left) {
      throw beyond(
          TokenLimits.MAX_HOURLY,
          "%s GPUs at %s, %s an hour,"
              .formatted(
                  next.maxGpus(), Price.shown(next.ceilingCents()), Price.shown(hourlyCents(next))),
          "at most %s an hour here: the limit is %s, and the other clusters it declared may cost %s"
              .formatted(Price.shown(left), Price.shown(most), Price.shown(elsewhereCents)),
          Price.toUsd(left));
    }
  }

  private void requireLease(Declaration next, long nowMillis) {
    Long lease = limits.maxLeaseMillis();
    Long until = next.untilMillis();
    if (lease != null && (until == null || until > nowMillis + lease)) {
      String latest = Times.rfc3339(nowMillis + lease);
      throw beyond(
              TokenLimits.MAX_LEASE,
              until == null ? "a declaration without until" : "until " + Times.rfc3339(until),
              "an until no later than " + latest + ", " + TokenLimits.shownLease(lease) + " ahead",
              lease / 1_000.0)
          .with("until", latest);
    }
  }

  private static ApiException beyond(String limit, String asked, String accepted, double maximum) {
    return ApiException.of(
            ErrorCode.TOKEN_LIMIT,
            "%s is beyond the token's limit %s; expected %s. Lowering always passes",
            asked,
            limit,
            accepted)
        .with("limit", limit)
        .with("maximum", maximum);
  }

  /**
   * What must still hold when a declaration is stored; null when nothing must. Others of the same
   * writer may be stored meanwhile, by this process or another.
   */
  @Nullable HourlyLimit hourlyLimit(
      Cluster cluster, @Nullable Declaration standing, Declaration next) {
    Long most = limits.maxHourlyCents();
    return most == null || !isRaise(standing, next)
        ? null
        : new HourlyLimit(tokenId, grantId, cluster.orgId(), next.updatedBy(), most);
  }
}
