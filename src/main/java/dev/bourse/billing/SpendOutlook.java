package dev.bourse.billing;

import dev.bourse.schemas.console.ClusterOutlookJson;
import dev.bourse.schemas.console.SpendOutlookJson;
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
  SpendOutlookJson toJson() {
    return new SpendOutlookJson(
        atMillis,
        Month.at(atMillis).toString(),
        limitMicros(),
        limits.memberMicros(),
        limits.operatorMicros(),
        SpendLimits.Setter.label(limits.setBy()),
        enforced,
        monthMicros,
        committedMicros,
        remainingMicros(),
        rateMicros(),
        monthAtRateMicros(),
        isReached(),
        reachedAtMillis(),
        stopMillis,
        overshootMicros(),
        monthAtMostMicros(),
        clusters.stream()
            .map(
                cluster ->
                    new ClusterOutlookJson(
                        cluster.cluster(),
                        cluster.pool(),
                        cluster.activeGpus(),
                        cluster.maxGpus(),
                        cluster.rateMicros(),
                        cluster.mostMicros()))
            .toList());
  }
}
