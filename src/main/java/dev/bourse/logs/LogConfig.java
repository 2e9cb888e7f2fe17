package dev.bourse.logs;

import dev.bourse.core.Settings;
import java.time.Duration;
import java.util.Map;
import org.slf4j.event.Level;

/**
 * Settings of the log.
 *
 * @param format {@code log.format}
 * @param level {@code log.level}: the least severe level that is written
 * @param slowMillis {@code log.slow-request}: requests that take at least this long are logged with
 *     a breakdown of their time; 0 for none
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

  /** Returns the defaults: text at {@code info}. */
  public static LogConfig defaultConfig() {
    return new LogConfig(LogFormat.TEXT, Level.INFO, SLOW.toMillis());
  }

  LogConfig at(Level other) {
    return new LogConfig(format, other, slowMillis);
  }

  /** Returns the level of a name; {@code info} for an unknown name. */
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
