package dev.bourse.audit;

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
    long id, long atMillis, String actor, String action, String subject, String detail) {}
