package dev.bourse.billing;

import dev.bourse.capacity.Hold;
import dev.bourse.capacity.Hold.Stage;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * A hold that an operator has put on an organization by hand. It stands beside the one for money:
 * neither lifts the other.
 *
 * @param stage {@code NOTICE}, in which nothing is granted, or {@code ENFORCE}, in which all is
 *     reclaimed; null without one
 * @param sinceMillis when it was put on, moved or lifted; 0 before the first
 * @param reason why, as the organization reads it; null without one
 * @param by the operator who put it on; null without one
 */
public record OperatorHold(
    @Nullable Stage stage, long sinceMillis, @Nullable String reason, @Nullable String by) {
  /** What clusters show as its reason. */
  static final String LABEL = "operator";

  /** None, and never one. */
  static final OperatorHold NONE = new OperatorHold(null, 0, null, null);

  public OperatorHold {
    if ((stage == null) != (reason == null) || stage == Stage.GRACE) {
      throw new IllegalArgumentException(
          "a hold by hand in stage %s for '%s'".formatted(stage, reason));
    }
  }

  /** A lift of it. */
  OperatorHold lifted(long nowMillis) {
    return new OperatorHold(null, nowMillis, null, null);
  }

  /** What clusters are under, with what the hold for money puts them under: the deeper of both. */
  @Nullable Hold with(@Nullable Hold money) {
    if (stage == null || (money != null && money.stage().compareTo(stage) >= 0)) {
      return money;
    }
    return new Hold(stage, LABEL, stage == Stage.ENFORCE ? (Long) sinceMillis : null);
  }

  /** As contracts have it; null without one. */
  public @Nullable JsonObject toJson() {
    return stage == null
        ? null
        : new JsonObject()
            .put("stage", stage.label())
            .put("reason", reason)
            .put("since", Times.rfc3339(sinceMillis));
  }
}
