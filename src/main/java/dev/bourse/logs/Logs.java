package dev.bourse.logs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Properties;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/** Where all lines of the process go: to its standard error, each in one write. */
public final class Logs {
  /**
   * Where a level is found that stands for {@code info} until there are settings. The tests have
   * one.
   */
  private static final String DEFAULTS = "/log.properties";

  /** Whose logger it is. */
  enum Origin {
    /** This program's. */
    OURS,
    LIBRARY,
    /** A library that tells of each connection at {@code info}. */
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
      // Then what is said by default is said.
    }
    return LogConfig.usual().at(LogConfig.level(found.getProperty("level", "info")));
  }

  /**
   * From now on lines have this form and this level, those of {@code java.util.logging} too. What
   * commands of the command line say is not configured.
   */
  public static void configure(LogConfig chosen) {
    config = chosen;
    JulLines.install();
  }

  /** How the request is found that the calling thread is at work for. */
  static void askFor(Supplier<@Nullable RequestContext> request) {
    asking = request;
  }

  static boolean shows(Origin origin, Level level) {
    return level.toInt() >= origin.least(config.level()).toInt();
  }

  /** Writes a line, whatever its level. */
  static void say(Level level, String logger, @Nullable String message, @Nullable Throwable error) {
    LogLine line =
        new LogLine(
            // The machine's own clock: nothing goes by it, and it is there before any other is.
            Instant.now(),
            level,
            logger,
            Thread.currentThread().getName(),
            String.valueOf(message),
            error,
            asking.get());
    byte[] bytes = config.format().line(line).getBytes(StandardCharsets.UTF_8);
    // One call, for the stream keeps others out for as long as it takes.
    System.err.write(bytes, 0, bytes.length);
    System.err.flush();
  }
}
