package dev.bourse.audit;

import dev.bourse.core.Times;
import io.vertx.core.json.JsonObject;

/**
 * One row of a trail as it is read.
 *
 * @param id increasing over all trails; a page goes on below the last one's
 * @param atMillis when
 * @param actor who did it, in the forms of {@link AuditRow}
 * @param action what was done
 * @param subject what it was done to
 * @param detail the recorded arguments, for people
 */
public record TrailEntry(
    long id, long atMillis, String actor, String action, String subject, String detail) {
  /** An entry as answers spell it. */
  public JsonObject json() {
    return new JsonObject()
        .put("id", id)
        .put("ts", Times.rfc3339(atMillis))
        .put("actor", actor)
        .put("action", action)
        .put("subject", subject)
        .put("detail", detail);
  }
}
