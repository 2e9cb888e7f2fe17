package dev.bourse.logs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Properties;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/** Writes all lines of the process to standard error, each in one call. */
public final class Logs {
  /** A properties file that sets the level until the settings are read; only the tests have one. */
  private static final String DEFAULTS = "/log.properties";

  /** The owner of a logger. */
  enum Origin {
    /** This program. */
    OURS,
    LIBRARY,
    /** A library that logs each connection at {@code info}. */
    TALKATIVE;

    static Origin of(String logger) {
      if (logger.startsWith("dev.bourse.")) {
        return OURS;
      }
      return logger.startsWith("org.apache.sshd") ? TALKATIVE : LIBRARY;
    }

    Level least(Level chosen) {
      Level least =
          switch (this) {
            case OURS -> Level.TRACE;
            case LIBRARY -> Level.INFO;
            case TALKATIVE -> Level.WARN;
          };
      return chosen.toInt() > least.toInt() ? chosen : least;
    }
  }

  private static volatile LogConfig config = defaults();
  private static volatile Supplier<@Nullable RequestContext> asking = () -> null;

  private Logs() {}

  private static LogConfig defaults() {
    Properties found = new Properties();
    try (InputStream file = Logs.class.getResourceAsStream(DEFAULTS)) {
      if (file != null) {
        found.load(file);
      }
    } catch (IOException unreadable) {
      // The default level applies.
    }
    return LogConfig.defaultConfig().at(LogConfig.level(found.getProperty("level", "info")));
  }

  /**
   * Sets the format and level of all further lines, those of {@code java.util.logging} included.
   * Commands of the command line do not call it.
   */
  public static void configure(LogConfig chosen) {
    config = chosen;
    JulHandler.install();
  }

  /** Sets the look-up of the request that the calling thread works for. */
  static void setRequestLookup(Supplier<@Nullable RequestContext> request) {
    asking = request;
  }

  static boolean shows(Origin origin, Level level) {
    return level.toInt() >= origin.least(config.level()).toInt();
  }

  /** Writes a line, regardless of its level. */
  static void write(
      Level level, String logger, @Nullable String message, @Nullable Throwable error) {
    LogLine line =
        new LogLine(
            // The machine's own clock: no decision depends on it, and it is available before any
            // other clock.
            Instant.now(),
            level,
            logger,
            Thread.currentThread().getName(),
            String.valueOf(message),
            error,
            asking.get());
    byte[] bytes = config.format().line(line).getBytes(StandardCharsets.UTF_8);
    // One call, because the stream locks out other writers for its duration.
    System.err.write(bytes, 0, bytes.length);
    System.err.flush();
  }
}
