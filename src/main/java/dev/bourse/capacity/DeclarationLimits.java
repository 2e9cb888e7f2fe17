package dev.bourse.capacity;

import dev.bourse.access.TokenLimits;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import org.jspecify.annotations.Nullable;

/**
 * The limits of a writer's declarations. A write that raises nothing always passes, and so does one
 * of no GPUs, so that a writer beyond a limit can still release nodes.
 *
 * @param tokenId the token that writes; empty for a member
 * @param grantId the OAuth consent by which an application writes for a member; null without one
 * @param limits the writer's limits
 * @param elsewhereCents the hourly cost at their ceilings of the other clusters that it declared
 *     last, in cents
 */
public record DeclarationLimits(
    String tokenId, @Nullable String grantId, TokenLimits limits, long elsewhereCents) {

  /** No limits. */
  public static final DeclarationLimits NONE = new DeclarationLimits("", null, TokenLimits.NONE, 0);

  /**
   * True if a declaration exceeds the standing one in any respect: more GPUs, a higher ceiling, a
   * later end or a larger or new budget.
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

  /** True if the next budget is larger or was set again, because its costs count from zero. */
  private static boolean isDearer(
      Conditions.@Nullable Budget standing, Conditions.@Nullable Budget next) {
    return standing != null
        && (next == null
            || next.maxSpendCents() > standing.maxSpendCents()
            || next.sinceMillis() != standing.sinceMillis());
  }

  /** Returns a declaration's hourly cost at its ceiling, in cents. */
  static long hourlyCents(@Nullable Declaration declared) {
    return declared == null ? 0 : declared.maxGpus() * declared.ceilingCents();
  }

  /**
   * True if the writer made the declaration.
   *
   * @param actor the writer's name in records
   */
  boolean wrote(String actor, Declaration declared) {
    return declared.updatedBy().equals(actor)
        && (grantId == null || grantId.equals(declared.write().grantId()));
  }

  /**
   * Rejects a declaration beyond a limit.
   *
   * @param standing the declaration that it replaces; null for the first
   * @throws ApiException {@code token-limit}, with the first limit that it exceeds and the maximum
   *     accepted
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
   * Returns the limit that the commit must check; null without one. Other clusters of the same
   * writer may be stored at the same time, by this process or another.
   */
  @Nullable HourlyLimit hourlyLimit(
      Cluster cluster, @Nullable Declaration standing, Declaration next) {
    Long most = limits.maxHourlyCents();
    return most == null || !isRaise(standing, next)
        ? null
        : new HourlyLimit(tokenId, grantId, cluster.orgId(), next.updatedBy(), most);
  }
}
