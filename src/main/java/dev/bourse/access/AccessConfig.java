package dev.bourse.access;

import dev.bourse.core.Settings;
import java.time.Duration;

/**
 * How members' tokens are signed, and what the first operator's token is like.
 *
 * @param keyRotationMillis {@code access.key-rotation}: for how long one key signs; 90 days
 * @param firstOperatorMillis {@code access.first-operator-valid}: for how long the operator's token
 *     is valid that a start makes; 90 days
 * @param mintsOperator {@code access.mint-operator}: whether a start makes one though others are in
 *     force, because nobody has their secrets any more
 */
public record AccessConfig(
    long keyRotationMillis, long firstOperatorMillis, boolean mintsOperator) {
  private static final Duration ROTATION = Duration.ofDays(90);
  private static final Duration FIRST_OPERATOR = Duration.ofDays(90);

  /** Keys are looked after once an hour; a shorter life could not be kept. */
  private static final Duration LEAST_ROTATION = Duration.ofHours(1);

  private static final Duration MOST_ROTATION = Duration.ofDays(3_650);

  public static AccessConfig from(Settings settings) {
    return new AccessConfig(
        settings.millis("access.key-rotation", ROTATION, LEAST_ROTATION, MOST_ROTATION),
        settings.millis(
            "access.first-operator-valid", FIRST_OPERATOR, LEAST_ROTATION, MOST_ROTATION),
        settings.flag("access.mint-operator", false));
  }

  public static AccessConfig defaults() {
    return new AccessConfig(ROTATION.toMillis(), FIRST_OPERATOR.toMillis(), false);
  }
}
