package dev.bourse.capacity;

import dev.bourse.core.ApiError;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a declaration says of its minimum, its end, its budget and its failed nodes, as sent.
 *
 * @param minGpus fewer GPUs than this are worth nothing
 * @param untilMillis when the declaration lapses
 * @param maxSpendUsd how many US dollars it may cost from this write on
 * @param autoSwap whether failed nodes are swapped without a request
 */
public record Conditions(
    Setting<Integer> minGpus,
    Setting<Long> untilMillis,
    Setting<BigDecimal> maxSpendUsd,
    Setting<Boolean> autoSwap) {

  /** Keeps what becomes of failed nodes. */
  public Conditions(
      Setting<Integer> minGpus, Setting<Long> untilMillis, Setting<BigDecimal> maxSpendUsd) {
    this(minGpus, untilMillis, maxSpendUsd, Setting.kept());
  }

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
        Setting.in(body, "max_spend_usd", value -> new BigDecimal(value.toString())),
        Setting.in(body, "auto_swap", value -> (Boolean) value));
  }

  private static long until(String text) {
    return Times.parse(text)
        .orElseThrow(
            () -> ApiError.badField("until", text, "a time as RFC 3339 writes it, with an offset"));
  }

  /**
   * Refuses what no declaration can be under. What stands and is kept is not looked at: whoever
   * does not speak of it must still be able to release.
   *
   * @throws dev.bourse.core.ApiError {@code bad-request} for an end that has passed or lies too far
   *     ahead, and a budget that is used up from the start or not in whole cents
   */
  void requireTenable(long nowMillis) {
    if (untilMillis instanceof Setting.To<Long> to) {
      long latest =
          Instant.ofEpochMilli(nowMillis)
              .atZone(ZoneOffset.UTC)
              .plusYears(1)
              .toInstant()
              .toEpochMilli();
      if (to.value() <= nowMillis || to.value() > latest) {
        throw ApiError.badField(
            "until",
            Times.rfc3339(to.value()),
            "a time after %s, which is now, and no later than %s; null for no end"
                .formatted(Times.rfc3339(nowMillis), Times.rfc3339(latest)));
      }
    }
    if (maxSpendUsd instanceof Setting.To<BigDecimal> to) {
      if (!Price.isWholeCents(to.value())) {
        throw ApiError.badField(
            "max_spend_usd", to.value().toPlainString(), "whole cents: at most two decimals");
      }
      if (to.value().signum() <= 0) {
        throw ApiError.badField(
            "max_spend_usd",
            to.value().toPlainString(),
            "more than 0, for nothing of that is left to spend; max_gpus 0 releases everything, and"
                + " null is no budget");
      }
    }
  }

  /** As the audit trail tells it: what is set or cleared, and nothing of what is kept. */
  String recorded() {
    return recorded("min_gpus", minGpus, String::valueOf)
        + recorded("until", untilMillis, Times::rfc3339)
        + recorded("max_spend_usd", maxSpendUsd, usd -> Price.shown(Price.toCents(usd)))
        + recorded("auto_swap", autoSwap, String::valueOf);
  }

  private static <T> String recorded(String field, Setting<T> setting, Function<T, String> shown) {
    return setting instanceof Setting.To<T> to
        ? " " + field + "=" + shown.apply(to.value())
        : setting instanceof Setting.Cleared<T> ? " " + field + "=none" : "";
  }

  /** The minimum in force after the write. */
  @Nullable Integer minGpusOver(@Nullable Declaration standing) {
    return minGpus.over(standing == null ? null : standing.minGpus());
  }

  /** The end in force after the write. */
  @Nullable Long untilOver(@Nullable Declaration standing) {
    return untilMillis.over(standing == null ? null : standing.untilMillis());
  }

  /** Returns whether failed nodes are swapped without a request after the write. */
  boolean autoSwapOver(@Nullable Declaration standing) {
    return Boolean.TRUE.equals(autoSwap.over(standing != null && standing.autoSwap()));
  }

  /** The budget in force after the write; one that is set counts from now. */
  Declaration.@Nullable Budget budgetOver(@Nullable Declaration standing, long nowMillis) {
    return maxSpendUsd instanceof Setting.To<BigDecimal> to
        ? new Declaration.Budget(Price.toCents(to.value()), nowMillis)
        : maxSpendUsd instanceof Setting.Kept<BigDecimal> && standing != null
            ? standing.budget()
            : null;
  }
}
