package dev.bourse.billing;

import dev.bourse.core.Times;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The expected cost of an organization's month at its present usage, and the effect of a spend
 * limit. Pure; money is in micro-dollars.
 *
 * @param limits the limits that the outlook assumes
 * @param enforced whether the service enforces limits
 * @param monthMicros used since the month began
 * @param committedMicros the most that protected nodes, and nodes being provisioned, may still cost
 * @param clusters clusters that hold or declare nodes
 * @param stopMillis how long held nodes are billed after a limit is reached: the grace, the notice,
 *     and the delay of the checks
 * @param atMillis the moment
 */
record SpendOutlook(
    SpendLimits limits,
    boolean enforced,
    long monthMicros,
    long committedMicros,
    List<Exposure> clusters,
    long stopMillis,
    long atMillis) {
  private static final long HOUR_MILLIS = 3_600_000;
  private static final long MICROS_PER_CENT = 10_000;

  SpendOutlook {
    clusters = List.copyOf(clusters);
  }

  /**
   * The cost of one cluster.
   *
   * @param activeGpus GPUs that are billed now
   * @param maxGpus the larger number of the GPUs it holds and the GPUs it declares
   * @param rateCents price of a GPU-hour; 0 while its pool has no clearing price
   * @param ceilingCents the most it pays for a GPU-hour
   */
  record Exposure(
      String cluster, String pool, int activeGpus, int maxGpus, long rateCents, long ceilingCents) {
    long rateMicros() {
      return activeGpus * rateCents * MICROS_PER_CENT;
    }

    long mostMicros() {
      return maxGpus * ceilingCents * MICROS_PER_CENT;
    }
  }

  /** Returns the hourly cost of held nodes at the prices of the last tick. */
  long rateMicros() {
    return clusters.stream().mapToLong(Exposure::rateMicros).sum();
  }

  /** Returns the month's usage at its end if nothing changes. */
  long monthAtRateMicros() {
    return monthMicros + during(rateMicros(), Month.at(atMillis).endMillis() - atMillis);
  }

  /** Returns the limit in force; null for none. */
  @Nullable Long limitMicros() {
    return limits.inForceMicros();
  }

  boolean isReached() {
    Long limitMicros = limitMicros();
    return limitMicros != null && monthMicros >= limitMicros;
  }

  /**
   * Returns when the limit is reached if nothing changes; null if that is not within this month.
   */
  @Nullable Long reachedAtMillis() {
    Long limitMicros = limitMicros();
    if (limitMicros == null || isReached() || rateMicros() == 0) {
      return null;
    }
    double hours = (double) (limitMicros - monthMicros) / rateMicros();
    double at = atMillis + Math.ceil(hours * HOUR_MILLIS);
    return at < Month.at(atMillis).endMillis() ? (Long) (long) at : null;
  }

  /** Returns the part of the limit that can still be committed. */
  @Nullable Long remainingMicros() {
    Long limitMicros = limitMicros();
    return limitMicros == null
        ? null
        : (Long) SpendLimit.remainingMicros(limitMicros, monthMicros, committedMicros);
  }

  /**
   * Returns the most by which the month's usage can exceed the limit with the present declarations.
   * Each pool but one may grant the remaining part once more, and nodes held when the limit is
   * reached are billed, at their ceilings at most, until they are reclaimed.
   */
  @Nullable Long overshootMicros() {
    Long remaining = remainingMicros();
    if (remaining == null) {
      return null;
    }
    long pools =
        clusters.stream().filter(c -> c.maxGpus() > 0).map(Exposure::pool).distinct().count();
    long most = clusters.stream().mapToLong(Exposure::mostMicros).sum();
    return Math.max(0, pools - 1) * remaining + during(most, stopMillis);
  }

  /** Returns the most that the month can cost; null while limits are not enforced. */
  @Nullable Long monthAtMostMicros() {
    Long limitMicros = limitMicros();
    Long overshoot = overshootMicros();
    return limitMicros == null || overshoot == null || !enforced
        ? null
        : (Long) (Math.max(limitMicros, monthMicros) + overshoot);
  }

  /** Rounds up. */
  private static long during(long microsPerHour, long millis) {
    return (long) Math.ceil((double) microsPerHour / HOUR_MILLIS * millis);
  }

  /** Returns the answer of the contract. */
  JsonObject toJson() {
    JsonArray each = new JsonArray();
    for (Exposure cluster : clusters) {
      each.add(
          new JsonObject()
              .put("cluster", cluster.cluster())
              .put("pool", cluster.pool())
              .put("active_gpus", cluster.activeGpus())
              .put("max_gpus", cluster.maxGpus())
              .put("rate_micros_per_hour", cluster.rateMicros())
              .put("most_micros_per_hour", cluster.mostMicros()));
    }
    return new JsonObject()
        .put("as_of", Times.rfc3339(atMillis))
        .put("month", Month.at(atMillis).toString())
        .put("limit_micros", limitMicros())
        .put("limit_member_micros", limits.memberMicros())
        .put("limit_operator_micros", limits.operatorMicros())
        .put("limit_set_by", SpendLimits.Setter.label(limits.setBy()))
        .put("enforced", enforced)
        .put("month_usage_micros", monthMicros)
        .put("committed_micros", committedMicros)
        .put("remaining_micros", remainingMicros())
        .put("rate_micros_per_hour", rateMicros())
        .put("month_at_this_rate_micros", monthAtRateMicros())
        .put("reached", isReached())
        .put("reached_at", Times.rfc3339OrNull(reachedAtMillis()))
        .put("stop_after_ms", stopMillis)
        .put("overshoot_micros", overshootMicros())
        .put("month_at_most_micros", monthAtMostMicros())
        .put("clusters", each);
  }
}
