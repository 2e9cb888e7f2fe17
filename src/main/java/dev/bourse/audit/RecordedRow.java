package dev.bourse.audit;

import dev.bourse.store.Row;

/**
 * A row of the audit trail as stored.
 *
 * @param id increasing over all trails
 * @param orgId whose trail it is in, {@link Trails#PLATFORM} for the platform's
 * @param isRead whether it records a read
 */
record RecordedRow(
    long id,
    long atMillis,
    String orgId,
    String actor,
    String action,
    String subject,
    String detail,
    boolean isRead) {

  /** What a query that {@link #from} understands selects. */
  static final String COLUMNS = "id, ts, org_id, actor, action, subject, detail, is_read";

  static RecordedRow from(Row row) {
    return new RecordedRow(
        row.integer(0),
        row.integer(1),
        row.text(2),
        row.text(3),
        row.text(4),
        row.text(5),
        row.text(6),
        row.truth(7));
  }

  Chain chain() {
    return new Chain(orgId, isRead);
  }
}
