package dev.bourse.logs;

import dev.bourse.core.Settings;
import java.time.Duration;
import java.util.Map;
import org.slf4j.event.Level;

/**
 * How the log is written.
 *
 * @param format {@code log.format}
 * @param level {@code log.level}: what is less grave is not said
 * @param slowMillis {@code log.slow-request}: a request that takes as long is told with where the
 *     time went; 0 for none
 */
public record LogConfig(LogFormat format, Level level, long slowMillis) {
  private static final Duration SLOW = Duration.ofSeconds(1);

  private static final Map<String, Level> LEVELS =
      Map.of(
          "error", Level.ERROR,
          "warn", Level.WARN,
          "info", Level.INFO,
          "debug", Level.DEBUG,
          "trace", Level.TRACE);

  /** Text at {@code info}. */
  public static LogConfig usual() {
    return new LogConfig(LogFormat.TEXT, Level.INFO, SLOW.toMillis());
  }

  LogConfig at(Level other) {
    return new LogConfig(format, other, slowMillis);
  }

  /** The level of a name; {@code info} for a name that is none. */
  static Level level(String name) {
    return LEVELS.getOrDefault(name, Level.INFO);
  }

  public static LogConfig from(Settings settings) {
    String format = settings.text("log.format", "text");
    if (!format.equals("text") && !format.equals("json")) {
      settings.fault("log.format", format, "text or json");
    }
    String level = settings.text("log.level", "info");
    if (!LEVELS.containsKey(level)) {
      settings.fault("log.level", level, "error, warn, info, debug or trace");
    }
    return new LogConfig(
        format.equals("json") ? LogFormat.JSON : LogFormat.TEXT,
        level(level),
        settings.millis("log.slow-request", SLOW, Duration.ZERO, Duration.ofHours(1)));
  }
}
