package dev.bourse.billing;

import dev.bourse.capacity.Hold;
import dev.bourse.capacity.Hold.Stage;
import dev.bourse.schemas.common.OperatorHoldJson;
import org.jspecify.annotations.Nullable;

/**
 * A hold that an operator has put on an organization. It is independent of the automatic hold:
 * neither lifts the other.
 *
 * @param stage {@code NOTICE}, which stops grants, or {@code ENFORCE}, which reclaims all nodes;
 *     null without a hold
 * @param sinceMillis when it was last changed; 0 before the first
 * @param reason shown to the organization; null without a hold
 * @param by the operator who set it; null without a hold
 */
public record OperatorHold(
    @Nullable Stage stage, long sinceMillis, @Nullable String reason, @Nullable String by) {
  /** The reason that clusters show. */
  static final String LABEL = "operator";

  /** No hold, now or earlier. */
  static final OperatorHold NONE = new OperatorHold(null, 0, null, null);

  public OperatorHold {
    if ((stage == null) != (reason == null) || stage == Stage.GRACE) {
      throw new IllegalArgumentException(
          "an operator's hold in stage %s with reason '%s'".formatted(stage, reason));
    }
  }

  /** Returns the lifted hold. */
  OperatorHold lifted(long nowMillis) {
    return new OperatorHold(null, nowMillis, null, null);
  }

  /** Returns the hold for clusters: the more severe of this one and the automatic one. */
  @Nullable Hold with(@Nullable Hold money) {
    if (stage == null || (money != null && money.stage().compareTo(stage) >= 0)) {
      return money;
    }
    return new Hold(stage, LABEL, stage == Stage.ENFORCE ? (Long) sinceMillis : null);
  }

  /** Returns the form of the contracts; null without a hold. */
  public @Nullable OperatorHoldJson toJson() {
    return stage == null || reason == null
        ? null
        : new OperatorHoldJson(stage.label(), reason, sinceMillis);
  }
}
