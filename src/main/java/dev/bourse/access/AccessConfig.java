package dev.bourse.access;

import dev.bourse.core.Settings;
import java.time.Duration;

/**
 * The signing of members' tokens, and the first operator token.
 *
 * @param keyRotationMillis {@code access.key-rotation}: how long one key signs; 90 days
 * @param firstOperatorMillis {@code access.first-operator-valid}: how long the operator token that
 *     a start mints is valid; 90 days
 * @param mintsOperator {@code access.mint-operator}: whether a start mints one although others are
 *     valid, for operators who lost their secrets
 */
public record AccessConfig(
    long keyRotationMillis, long firstOperatorMillis, boolean mintsOperator) {
  private static final Duration ROTATION = Duration.ofDays(90);
  private static final Duration FIRST_OPERATOR = Duration.ofDays(90);

  /** The shortest rotation, because the background job that rotates keys runs once an hour. */
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
