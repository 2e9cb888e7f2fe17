package dev.bourse.capacity;

import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/**
 * What a cluster asks for.
 *
 * @param maxGpus GPUs wanted, a multiple of the pool's gpus_per_node
 * @param ceilingCents the most it pays per GPU-hour
 * @param pricedAtMillis since when this ceiling stands, for the tie between equal bids
 * @param updatedAtMillis when it was last declared
 * @param updatedBy the actor
 * @param minGpus fewer GPUs than this are worth nothing to it; null for one node
 * @param untilMillis when it lapses; null for never
 * @param budget how much it may cost before it lapses; null for any amount
 * @param grantId the consent by which an application declared it for a member; null when nobody's
 *     application did
 * @param effectiveAtMillis when the ceiling is in force at the latest: the next tick reads it, and
 *     a lower one is in force at this time even without a tick; null if an earlier release stored
 *     it, where it was in force at once
 * @param autoSwap whether a node that failed is swapped without a request
 */
public record Declaration(
    int maxGpus,
    long ceilingCents,
    long pricedAtMillis,
    long updatedAtMillis,
    String updatedBy,
    @Nullable Integer minGpus,
    @Nullable Long untilMillis,
    @Nullable Budget budget,
    @Nullable String grantId,
    @Nullable Long effectiveAtMillis,
    boolean autoSwap) {
  public Declaration {
    if (maxGpus < 0 || ceilingCents < 0) {
      throw new IllegalArgumentException(
          "%s GPUs are declared at %s cents; neither can be negative"
              .formatted(maxGpus, ceilingCents));
    }
    if (minGpus != null && minGpus <= 0) {
      throw new IllegalArgumentException(
          "at least %s GPUs are declared; none is no minimum".formatted(minGpus));
    }
  }

  /** One that no application declared. */
  public Declaration(
      int maxGpus,
      long ceilingCents,
      long pricedAtMillis,
      long updatedAtMillis,
      String updatedBy,
      @Nullable Integer minGpus,
      @Nullable Long untilMillis,
      @Nullable Budget budget) {
    this(
        maxGpus,
        ceilingCents,
        pricedAtMillis,
        updatedAtMillis,
        updatedBy,
        minGpus,
        untilMillis,
        budget,
        null,
        null,
        false);
  }

  /** One that stands until it is replaced, whatever it costs and however little it wins. */
  public Declaration(
      int maxGpus, long ceilingCents, long pricedAtMillis, long updatedAtMillis, String updatedBy) {
    this(maxGpus, ceilingCents, pricedAtMillis, updatedAtMillis, updatedBy, null, null, null);
  }

  /**
   * When a declaration is made that follows another: no earlier than that, for bills go by times,
   * and of two the later one is in force. Clocks of two processes differ by seconds, and one steps
   * back by as much. What lies further ahead was made by a clock that was wrong, and is put right
   * ({@link FutureTimes}).
   *
   * @param former null for none
   */
  static long notBefore(@Nullable Declaration former, long nowMillis) {
    return former != null && former.updatedAtMillis <= nowMillis + FutureTimes.APART_MILLIS
        ? Math.max(former.updatedAtMillis, nowMillis)
        : nowMillis;
  }

  /**
   * The most it can cost from its last write on, in cents rounded up: at its ceiling until it
   * lapses, or its budget where that is less. Null when it has neither.
   */
  @Nullable Long worstCaseCents() {
    Long most = budget == null ? null : Long.valueOf(budget.maxSpendCents());
    if (untilMillis == null) {
      return most;
    }
    BigInteger centGpuMillis =
        BigInteger.valueOf(Math.max(0, untilMillis - updatedAtMillis))
            .multiply(BigInteger.valueOf(maxGpus))
            .multiply(BigInteger.valueOf(ceilingCents));
    long atCeiling =
        centGpuMillis
            .add(BigInteger.valueOf(HOUR_MILLIS - 1))
            .divide(BigInteger.valueOf(HOUR_MILLIS))
            .longValueExact();
    return most == null ? atCeiling : Math.min(most, atCeiling);
  }

  private static final long HOUR_MILLIS = 3_600_000;

  /**
   * How much a declaration may cost.
   *
   * @param maxSpendCents the amount, in cents
   * @param sinceMillis from when on it counts: the write that set it
   */
  public record Budget(long maxSpendCents, long sinceMillis) {
    public Budget {
      if (maxSpendCents < 0) {
        throw new IllegalArgumentException(
            "a budget of %s cents: must not be negative".formatted(maxSpendCents));
      }
    }
  }
}
