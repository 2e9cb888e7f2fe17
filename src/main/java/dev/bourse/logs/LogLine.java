package dev.bourse.logs;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * One event of the log.
 *
 * @param logger full name of the logger
 * @param thread name of the calling thread
 * @param error the error logged with the message, or null
 * @param request the request it belongs to; null if there is none or it is not known
 */
record LogLine(
    Instant time,
    Level level,
    String logger,
    String thread,
    String message,
    @Nullable Throwable error,
    @Nullable RequestContext request) {

  /** Returns the class name without its package. */
  String shortLogger() {
    return logger.substring(logger.lastIndexOf('.') + 1);
  }
}
