package dev.bourse.capacity;

import java.math.BigInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A cluster's declaration: the capacity that it wants and the terms on which it bids.
 *
 * @param maxGpus the number of GPUs wanted, a multiple of the pool's gpus_per_node
 * @param ceiling the most that it pays per GPU-hour
 * @param write the write that declared it
 * @param conditions its minimum, its end, its budget and the treatment of failed nodes
 */
public record Declaration(int maxGpus, Ceiling ceiling, LastWrite write, Conditions conditions) {
  public Declaration {
    if (maxGpus < 0 || ceiling.cents < 0) {
      throw new IllegalArgumentException(
          "%s GPUs are declared at %s cents; neither can be negative"
              .formatted(maxGpus, ceiling.cents));
    }
  }

  /**
   * The most that a cluster pays per GPU-hour.
   *
   * @param cents the price, in cents
   * @param pricedAtMillis when this ceiling was declared; it breaks ties between equal bids
   * @param effectiveAtMillis when the ceiling is in force at the latest: the next tick reads it,
   *     and a lower one is in force at this time even without a tick; null if an earlier release
   *     stored it, where it was in force at once
   */
  public record Ceiling(long cents, long pricedAtMillis, @Nullable Long effectiveAtMillis) {}

  /**
   * The write that made the declaration.
   *
   * @param atMillis the time of the write
   * @param by the actor
   * @param grantId the OAuth consent by which an application wrote it for a member; null if no
   *     application did
   */
  public record LastWrite(long atMillis, String by, @Nullable String grantId) {}

  /** Returns a declaration without conditions, made by no application and in force at once. */
  public static Declaration of(int maxGpus, long ceilingCents, long nowMillis, String actor) {
    return new Declaration(
        maxGpus,
        new Ceiling(ceilingCents, nowMillis, null),
        new LastWrite(nowMillis, actor, null),
        Conditions.NONE);
  }

  /** Returns the conditions of a declaration; none without one. */
  static Conditions conditionsOf(@Nullable Declaration declared) {
    return declared == null ? Conditions.NONE : declared.conditions;
  }

  public long ceilingCents() {
    return ceiling.cents;
  }

  public long pricedAtMillis() {
    return ceiling.pricedAtMillis;
  }

  public @Nullable Long effectiveAtMillis() {
    return ceiling.effectiveAtMillis;
  }

  public long updatedAtMillis() {
    return write.atMillis;
  }

  public String updatedBy() {
    return write.by;
  }

  public @Nullable Long untilMillis() {
    return conditions.untilMillis();
  }

  public Conditions.@Nullable Budget budget() {
    return conditions.budget();
  }

  /** Returns a copy with some fields changed. */
  Declaration with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return new Declaration(draft.maxGpus, draft.ceiling, draft.write, draft.conditions);
  }

  /** The fields of a declaration that a change may set. */
  static final class Draft {
    int maxGpus;
    Ceiling ceiling;
    LastWrite write;
    Conditions conditions;

    private Draft(Declaration base) {
      this.maxGpus = base.maxGpus;
      this.ceiling = base.ceiling;
      this.write = base.write;
      this.conditions = base.conditions;
    }
  }

  /**
   * Returns the time of a declaration that follows another: now, but not before the time of the
   * former, because for bills the later declaration is in force. Clocks of two processes may differ
   * by seconds. A former time further ahead comes from a wrong clock; {@link FutureTimes} corrects
   * it.
   *
   * @param former the declaration that it follows; null for the first
   */
  static long notBefore(@Nullable Declaration former, long nowMillis) {
    return former != null && former.write.atMillis <= nowMillis + FutureTimes.APART_MILLIS
        ? Math.max(former.write.atMillis, nowMillis)
        : nowMillis;
  }

  /**
   * Returns the most that it can cost from its last write on, in cents rounded up: the cost at its
   * ceiling until it lapses, or its budget if that is less. Null if it has neither end nor budget.
   */
  @Nullable Long worstCaseCents() {
    Conditions.Budget budget = conditions.budget();
    Long until = conditions.untilMillis();
    Long most = budget == null ? null : Long.valueOf(budget.maxSpendCents());
    if (until == null) {
      return most;
    }
    BigInteger centGpuMillis =
        BigInteger.valueOf(Math.max(0, until - write.atMillis))
            .multiply(BigInteger.valueOf(maxGpus))
            .multiply(BigInteger.valueOf(ceiling.cents));
    long atCeiling =
        centGpuMillis
            .add(BigInteger.valueOf(HOUR_MILLIS - 1))
            .divide(BigInteger.valueOf(HOUR_MILLIS))
            .longValueExact();
    return most == null ? atCeiling : Math.min(most, atCeiling);
  }

  private static final long HOUR_MILLIS = 3_600_000;
}
