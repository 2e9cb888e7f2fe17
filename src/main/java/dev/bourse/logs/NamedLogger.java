package dev.bourse.logs;

import java.io.Serial;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;

/** A logger of one name. */
final class NamedLogger extends LegacyAbstractLogger {
  @Serial private static final long serialVersionUID = 1;

  private final Logs.Origin origin;

  NamedLogger(String name) {
    this.name = name;
    this.origin = Logs.Origin.of(name);
  }

  private boolean shows(Level level) {
    return Logs.shows(origin, level);
  }

  @Override
  public boolean isTraceEnabled() {
    return shows(Level.TRACE);
  }

  @Override
  public boolean isDebugEnabled() {
    return shows(Level.DEBUG);
  }

  @Override
  public boolean isInfoEnabled() {
    return shows(Level.INFO);
  }

  @Override
  public boolean isWarnEnabled() {
    return shows(Level.WARN);
  }

  @Override
  public boolean isErrorEnabled() {
    return shows(Level.ERROR);
  }

  @Override
  protected @Nullable String getFullyQualifiedCallerName() {
    return null;
  }

  @Override
  protected void handleNormalizedLoggingCall(
      Level level,
      @Nullable Marker marker,
      @Nullable String pattern,
      Object @Nullable [] arguments,
      @Nullable Throwable error) {
    Logs.write(level, name, MessageFormatter.basicArrayFormat(pattern, arguments), error);
  }
}
