package dev.bourse.audit;

import dev.bourse.schemas.common.AuditEntryJson;

/**
 * An entry of a trail as shown to readers.
 *
 * @param id increasing over all trails; the next page continues below the last id
 * @param atMillis the time of the action
 * @param actor the actor, in the forms of {@link AuditRow}
 * @param action the action
 * @param subject the subject of the action
 * @param detail the recorded arguments, as text for people
 */
public record TrailEntry(
    long id, long atMillis, String actor, String action, String subject, String detail) {
  /** Returns the entry as the contracts show it. */
  public AuditEntryJson toJson() {
    return new AuditEntryJson(id, atMillis, actor, action, subject, detail);
  }
}
