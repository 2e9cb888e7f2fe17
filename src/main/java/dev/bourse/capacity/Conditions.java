package dev.bourse.capacity;

import dev.bourse.core.ApiError;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * What a declaration says of its minimum, its end and its budget, as sent.
 *
 * @param minGpus fewer GPUs than this are worth nothing
 * @param untilMillis when the declaration lapses
 * @param maxSpendUsd how many US dollars it may cost from this write on
 */
public record Conditions(
    Setting<Integer> minGpus, Setting<Long> untilMillis, Setting<BigDecimal> maxSpendUsd) {

  /** Nothing is said: what stands stays. */
  public static final Conditions KEPT =
      new Conditions(Setting.kept(), Setting.kept(), Setting.kept());

  /**
   * Those of a body that the contract's schema accepts.
   *
   * @throws dev.bourse.core.ApiError when a time is none
   */
  public static Conditions of(JsonObject body) {
    return new Conditions(
        Setting.in(body, "min_gpus", value -> ((Number) value).intValue()),
        Setting.in(body, "until", value -> until((String) value)),
        Setting.in(body, "max_spend_usd", value -> new BigDecimal(value.toString())));
  }

  private static long until(String text) {
    return Times.parse(text)
        .orElseThrow(
            () -> ApiError.badField("until", text, "a time as RFC 3339 writes it, with an offset"));
  }

  /** The minimum in force after the write. */
  @Nullable Integer minGpusOver(@Nullable Declaration standing) {
    return minGpus.over(standing == null ? null : standing.minGpus());
  }

  /** The end in force after the write. */
  @Nullable Long untilOver(@Nullable Declaration standing) {
    return untilMillis.over(standing == null ? null : standing.untilMillis());
  }

  /** The budget in force after the write; one that is set counts from now. */
  Declaration.@Nullable Budget budgetOver(@Nullable Declaration standing, long nowMillis) {
    return maxSpendUsd instanceof Setting.To<BigDecimal> to
        ? new Declaration.Budget(to.value().movePointRight(2).longValueExact(), nowMillis)
        : maxSpendUsd instanceof Setting.Kept<BigDecimal> && standing != null
            ? standing.budget()
            : null;
  }
}
