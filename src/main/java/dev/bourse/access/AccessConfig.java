package dev.bourse.access;

import dev.bourse.core.Settings;
import java.time.Duration;

/**
 * How members' tokens are signed.
 *
 * @param keyRotationMillis {@code access.key-rotation}: for how long one key signs; 90 days
 */
public record AccessConfig(long keyRotationMillis) {
  private static final Duration ROTATION = Duration.ofDays(90);

  /** Keys are looked after once an hour; a shorter life could not be kept. */
  private static final Duration LEAST_ROTATION = Duration.ofHours(1);

  private static final Duration MOST_ROTATION = Duration.ofDays(3_650);

  public static AccessConfig from(Settings settings) {
    return new AccessConfig(
        settings.millis("access.key-rotation", ROTATION, LEAST_ROTATION, MOST_ROTATION));
  }

  public static AccessConfig defaults() {
    return new AccessConfig(ROTATION.toMillis());
  }
}
