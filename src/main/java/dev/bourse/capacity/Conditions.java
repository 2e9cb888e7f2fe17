package dev.bourse.capacity;

import dev.bourse.core.ApiException;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import dev.bourse.json.JsonReader;
import dev.bourse.json.Setting;
import dev.bourse.schemas.k8s.BidJson;
import dev.bourse.schemas.vm.CapacityDeclarationJson;
import dev.bourse.schemas.vm.DeclaredJson;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The terms of a declaration that a write may omit to keep them: its minimum, its end, its budget
 * and the treatment of failed nodes. This file has each of them except its column: the standing
 * value, the change by a request, and the JSON of both.
 *
 * @param minGpus the minimum, all or nothing, in GPUs; null for no minimum
 * @param untilMillis when the declaration lapses; null for no end
 * @param budget the cost at which it lapses; null for no budget
 * @param autoSwap true if a failed node is swapped without a request
 */
public record Conditions(
    @Nullable Integer minGpus,
    @Nullable Long untilMillis,
    @Nullable Budget budget,
    boolean autoSwap) {
  /** No minimum, no end, no budget and no automatic swaps. */
  public static final Conditions NONE = new Conditions(null, null, null, false);

  public Conditions {
    if (minGpus != null && minGpus <= 0) {
      throw new IllegalArgumentException(
          "a minimum of %s GPUs: must be positive, or null for no minimum".formatted(minGpus));
    }
  }

  /** Returns a copy with some fields changed. */
  Conditions with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return new Conditions(draft.minGpus, draft.untilMillis, draft.budget, draft.autoSwap);
  }

  /** Returns the conditions after the declaration has lapsed: only automatic swaps stay. */
  Conditions afterLapse() {
    return with(
        left -> {
          left.minGpus = null;
          left.untilMillis = null;
          left.budget = null;
        });
  }

  /** The conditions that a change may set. */
  static final class Draft {
    @Nullable Integer minGpus;
    @Nullable Long untilMillis;
    @Nullable Budget budget;
    boolean autoSwap;

    private Draft(Conditions base) {
      this.minGpus = base.minGpus;
      this.untilMillis = base.untilMillis;
      this.budget = base.budget;
      this.autoSwap = base.autoSwap;
    }
  }

  /**
   * The most that a declaration may cost.
   *
   * @param maxSpendCents the amount, in cents
   * @param sinceMillis the start of the costs that count: the time of the write that set it
   */
  public record Budget(long maxSpendCents, long sinceMillis) {
    public Budget {
      if (maxSpendCents < 0) {
        throw new IllegalArgumentException(
            "a budget of %s cents: must not be negative".formatted(maxSpendCents));
      }
    }
  }

  /** Returns a declaration with its conditions and the market's verdict, as the state shows it. */
  static DeclaredJson toJson(Declaration declared, Verdict verdict) {
    Conditions conditions = declared.conditions();
    Budget budget = conditions.budget;
    return new DeclaredJson(
        Price.toUsd(declared.ceilingCents()),
        declared.maxGpus(),
        verdict.bidTooLow(),
        verdict.capacityUnavailable(),
        declared.effectiveAtMillis(),
        declared.updatedAtMillis(),
        declared.updatedBy(),
        conditions.minGpus,
        conditions.untilMillis,
        budget == null ? null : Price.toUsd(budget.maxSpendCents),
        budget == null ? null : budget.sinceMillis,
        conditions.autoSwap);
  }

  /**
   * The changes that a write makes to the standing conditions.
   *
   * @param minGpus the minimum, all or nothing, in GPUs
   * @param untilMillis when the declaration lapses
   * @param maxSpendUsd the most that it may cost from this write on, in US dollars
   * @param autoSwap true if failed nodes are swapped without a request
   */
  public record Changes(
      Setting<Integer> minGpus,
      Setting<Long> untilMillis,
      Setting<BigDecimal> maxSpendUsd,
      Setting<Boolean> autoSwap) {

    /** The fields of a request that change conditions. */
    public static final Set<String> FIELDS =
        Set.of("min_gpus", "until", "max_spend_usd", "auto_swap");

    /** All conditions stay. */
    public static final Changes KEPT =
        new Changes(Setting.kept(), Setting.kept(), Setting.kept(), Setting.kept());

    /**
     * Returns the changes of a body that the contract's schema accepts.
     *
     * @throws ApiException if a time cannot be parsed
     */
    public static Changes of(JsonObject body) {
      JsonReader in = new JsonReader(body);
      return of(
          in.setting("min_gpus", in::integer),
          in.setting("until", in::text),
          in.setting("max_spend_usd", in::decimal),
          in.setting("auto_swap", in::truth));
    }

    /**
     * Returns the changes of a declaration.
     *
     * @throws ApiException if a time cannot be parsed
     */
    static Changes of(CapacityDeclarationJson sent) {
      return of(sent.minGpus(), sent.until(), sent.maxSpendUsd(), sent.autoSwap());
    }

    /**
     * Returns the changes of a bid.
     *
     * @throws ApiException if a time cannot be parsed
     */
    static Changes of(BidJson sent) {
      return of(sent.minGpus(), sent.until(), sent.maxSpendUsd(), sent.autoSwap());
    }

    private static Changes of(
        Setting<Integer> minGpus,
        Setting<String> until,
        Setting<BigDecimal> maxSpendUsd,
        Setting<Boolean> autoSwap) {
      return new Changes(minGpus, until.map(Changes::until), maxSpendUsd, autoSwap);
    }

    private static long until(String text) {
      return Times.parse(text)
          .orElseThrow(
              () ->
                  ApiException.badField(
                      "until", text, "a time as RFC 3339 writes it, with an offset"));
    }

    /**
     * Checks the conditions that the write sets. It does not check conditions that stay, because a
     * write that only releases nodes must not fail on them.
     *
     * @throws dev.bourse.core.ApiException {@code bad-request} for an end that has passed or is
     *     more than a year ahead, and for a budget that is not positive or not in whole cents
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
          throw ApiException.badField(
              "until",
              Times.rfc3339(to.value()),
              "a time after %s, which is now, and no later than %s; null for no end"
                  .formatted(Times.rfc3339(nowMillis), Times.rfc3339(latest)));
        }
      }
      if (maxSpendUsd instanceof Setting.To<BigDecimal> to) {
        if (!Price.isWholeCents(to.value())) {
          throw ApiException.badField(
              "max_spend_usd", to.value().toPlainString(), "whole cents: at most two decimals");
        }
        if (to.value().signum() <= 0) {
          throw ApiException.badField(
              "max_spend_usd",
              to.value().toPlainString(),
              "at least 0.01; to release all nodes, declare max_gpus 0; for no budget, send null");
        }
      }
    }

    /** Returns the changes for the audit trail; conditions that stay are left out. */
    String recorded() {
      return recorded("min_gpus", minGpus, String::valueOf)
          + recorded("until", untilMillis, Times::rfc3339)
          + recorded("max_spend_usd", maxSpendUsd, usd -> Price.shown(Price.toCents(usd)))
          + recorded("auto_swap", autoSwap, String::valueOf);
    }

    private static <T> String recorded(
        String field, Setting<T> setting, Function<T, String> shown) {
      return setting instanceof Setting.To<T> to
          ? " " + field + "=" + shown.apply(to.value())
          : setting instanceof Setting.Cleared<T> ? " " + field + "=none" : "";
    }

    /** True if it changes nothing, or clears the minimum and changes nothing else. */
    boolean keepsOrClearsMinimum() {
      return !(minGpus instanceof Setting.To<Integer>)
          && new Changes(Setting.kept(), untilMillis, maxSpendUsd, autoSwap).equals(KEPT);
    }

    /** Returns the conditions in force after the write; a budget that is set counts from now. */
    Conditions over(Conditions standing, long nowMillis) {
      return new Conditions(
          minGpus.over(standing.minGpus),
          untilMillis.over(standing.untilMillis),
          maxSpendUsd instanceof Setting.To<BigDecimal> to
              ? new Budget(Price.toCents(to.value()), nowMillis)
              : maxSpendUsd instanceof Setting.Kept<BigDecimal> ? standing.budget : null,
          Boolean.TRUE.equals(autoSwap.over(standing.autoSwap)));
    }
  }
}
