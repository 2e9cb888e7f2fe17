package dev.bourse.logs;

import java.util.logging.Handler;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/** Writes log records of {@code java.util.logging}, which the JDK and some libraries use. */
final class JulHandler extends Handler {
  private final SimpleFormatter formatter = new SimpleFormatter();

  private JulHandler() {}

  /** Replaces the root logger's handlers. Idempotent. */
  static void install() {
    Logger root = LogManager.getLogManager().getLogger("");
    for (Handler handler : root.getHandlers()) {
      root.removeHandler(handler);
    }
    root.addHandler(new JulHandler());
  }

  @Override
  public void publish(@Nullable LogRecord told) {
    if (told == null) {
      return;
    }
    String name = told.getLoggerName() == null ? "jul" : told.getLoggerName();
    Level level = level(told.getLevel());
    if (Logs.shows(Logs.Origin.of(name), level)) {
      Logs.write(level, name, formatter.formatMessage(told), told.getThrown());
    }
  }

  private static Level level(java.util.logging.Level told) {
    int value = told.intValue();
    if (value >= java.util.logging.Level.SEVERE.intValue()) {
      return Level.ERROR;
    }
    if (value >= java.util.logging.Level.WARNING.intValue()) {
      return Level.WARN;
    }
    return value >= java.util.logging.Level.INFO.intValue() ? Level.INFO : Level.DEBUG;
  }

  @Override
  public void flush() {
    // Nothing is buffered.
  }

  @Override
  public void close() {
    // Standard error belongs to the process.
  }
}
