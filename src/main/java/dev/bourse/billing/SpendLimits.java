package dev.bourse.billing;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Price;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The monthly spend limits of an organization: the members' limit, and the operators' limit as
 * credit control. The lower one is in force. Pure; money is in micro-dollars.
 *
 * @param memberMicros the limit that members set; null for none
 * @param operatorMicros the limit that operators set; null for none
 */
record SpendLimits(@Nullable Long memberMicros, @Nullable Long operatorMicros) {
  /** No limit. */
  static final SpendLimits NONE = new SpendLimits(null, null);

  private static final long MICROS_PER_CENT = 10_000;

  SpendLimits {
    requireNotNegative(memberMicros);
    requireNotNegative(operatorMicros);
  }

  private static void requireNotNegative(@Nullable Long micros) {
    if (micros != null && micros < 0) {
      throw new IllegalArgumentException("spend limit %d: must not be negative".formatted(micros));
    }
  }

  /** The parties that set a limit. */
  enum Setter {
    MEMBER,
    OPERATOR;

    /** Returns the name in contracts; null for null. */
    static @Nullable String label(@Nullable Setter setter) {
      return setter == null ? null : setter.name().toLowerCase(Locale.ROOT);
    }
  }

  /** Returns the limit in force, the lower one; null for none. */
  @Nullable Long inForceMicros() {
    return setBy() == Setter.MEMBER ? memberMicros : operatorMicros;
  }

  /**
   * Returns the setter of the limit in force; the operator if both limits are equal; null without a
   * limit.
   */
  @Nullable Setter setBy() {
    if (operatorMicros == null) {
      return memberMicros == null ? null : Setter.MEMBER;
    }
    return memberMicros != null && memberMicros < operatorMicros ? Setter.MEMBER : Setter.OPERATOR;
  }

  /**
   * Returns the limits after a member's write.
   *
   * @param micros the members' limit; null deletes it
   * @throws ApiException {@code bad-request} if it is above the operator's limit
   */
  SpendLimits withMember(@Nullable Long micros) {
    if (micros != null && operatorMicros != null && micros > operatorMicros) {
      throw ApiException.of(
          ErrorCode.BAD_REQUEST,
          "limit_usd: %s is above the limit that the operator set; choose at most %s",
          Price.shown(micros / MICROS_PER_CENT),
          Price.shown(operatorMicros / MICROS_PER_CENT));
    }
    return new SpendLimits(micros, operatorMicros);
  }

  /**
   * Returns the limits after an operator's write. The members' limit stays, even above the
   * operator's.
   *
   * @param micros the operator's limit; null deletes it
   */
  SpendLimits withOperator(@Nullable Long micros) {
    return new SpendLimits(memberMicros, micros);
  }
}
