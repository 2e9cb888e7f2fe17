package dev.bourse.billing;

import dev.bourse.core.Times;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an organization's month comes to at what it holds now, and what a spend limit would do about
 * it. Pure; money is in micro-dollars.
 *
 * @param limits the limits that the outlook assumes
 * @param enforced whether the service acts upon limits
 * @param monthMicros used since the month began
 * @param committedMicros what protected nodes, and those on their way, may still cost
 * @param clusters those that hold or want something
 * @param stopMillis how long what is held goes on being billed after a limit is reached: the grace,
 *     the notice, and the time until somebody looks
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
   * What one cluster costs.
   *
   * @param activeGpus GPUs that are billed now
   * @param maxGpus GPUs it holds or declares, whichever is more
   * @param rateCents what one of them costs an hour, 0 while its pool has no clearing price
   * @param ceilingCents what one of them costs an hour at most
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

  /** What is held now costs an hour at the prices of the last tick. */
  long rateMicros() {
    return clusters.stream().mapToLong(Exposure::rateMicros).sum();
  }

  /** The month's usage at its end if nothing changed. */
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

  /** When the limit is reached if nothing changes; null when that is not within this month. */
  @Nullable Long reachedAtMillis() {
    Long limitMicros = limitMicros();
    if (limitMicros == null || isReached() || rateMicros() == 0) {
      return null;
    }
    double hours = (double) (limitMicros - monthMicros) / rateMicros();
    double at = atMillis + Math.ceil(hours * HOUR_MILLIS);
    return at < Month.at(atMillis).endMillis() ? (Long) (long) at : null;
  }

  /** What is left of the limit to commit to. */
  @Nullable Long remainingMicros() {
    Long limitMicros = limitMicros();
    return limitMicros == null
        ? null
        : (Long) SpendLimit.remainingMicros(limitMicros, monthMicros, committedMicros);
  }

  /**
   * How far the month's usage can pass the limit, with the declarations as they are: each pool but
   * one may grant what is left once more, and what is held when the limit is reached is billed, at
   * the ceilings at most, until it is reclaimed.
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

  /** The most that the month can come to; null while nothing acts upon a limit. */
  @Nullable Long monthAtMostMicros() {
    Long limitMicros = limitMicros();
    Long overshoot = overshootMicros();
    return limitMicros == null || overshoot == null || !enforced
        ? null
        : (Long) (Math.max(limitMicros, monthMicros) + overshoot);
  }

  /** Rounded up. */
  private static long during(long microsPerHour, long millis) {
    return (long) Math.ceil((double) microsPerHour / HOUR_MILLIS * millis);
  }

  /** The answer of the contract. */
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
