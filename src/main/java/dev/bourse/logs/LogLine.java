package dev.bourse.logs;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * What is said once.
 *
 * @param logger the full name of who says it
 * @param thread the name of the thread that says it
 * @param error what is told along with the message
 * @param request for which it is said; null when it is for none, or not known
 */
record LogLine(
    Instant time,
    Level level,
    String logger,
    String thread,
    String message,
    @Nullable Throwable error,
    @Nullable RequestContext request) {

  /** The name of the class alone. */
  String shortLogger() {
    return logger.substring(logger.lastIndexOf('.') + 1);
  }
}
