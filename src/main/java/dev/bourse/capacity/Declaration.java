package dev.bourse.capacity;

import dev.bourse.core.Price;
import dev.bourse.core.Times;
import dev.bourse.json.JsonBytes;
import java.math.BigInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a cluster asks for.
 *
 * @param maxGpus GPUs wanted, a multiple of the pool's gpus_per_node
 * @param ceiling the most it pays
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
   * @param pricedAtMillis since when this ceiling stands, for the tie between equal bids
   * @param effectiveAtMillis when the ceiling is in force at the latest: the next tick reads it,
   *     and a lower one is in force at this time even without a tick; null if an earlier release
   *     stored it, where it was in force at once
   */
  public record Ceiling(long cents, long pricedAtMillis, @Nullable Long effectiveAtMillis) {}

  /**
   * The write that declared it.
   *
   * @param atMillis when it was declared
   * @param by the actor
   * @param grantId the consent by which an application declared it for a member; null when nobody's
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

  /** Returns a copy with some of it changed. */
  Declaration with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return new Declaration(draft.maxGpus, draft.ceiling, draft.write, draft.conditions);
  }

  /** A declaration being changed; what is not set stays. */
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

  /** Writes the declaration as the capacity state shows it, with the market's verdict on it. */
  void tell(JsonBytes json, Verdict verdict) {
    json.put("max_price_per_gpu_hour", Price.toUsd(ceiling.cents)).put("max_gpus", maxGpus);
    verdict.tell(json);
    json.put("effective_at", Times.rfc3339OrNull(ceiling.effectiveAtMillis))
        .put("updated_at", Times.rfc3339(write.atMillis))
        .put("updated_by", write.by);
    conditions.tell(json);
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
    return former != null && former.write.atMillis <= nowMillis + FutureTimes.APART_MILLIS
        ? Math.max(former.write.atMillis, nowMillis)
        : nowMillis;
  }

  /**
   * The most it can cost from its last write on, in cents rounded up: at its ceiling until it
   * lapses, or its budget where that is less. Null when it has neither.
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
