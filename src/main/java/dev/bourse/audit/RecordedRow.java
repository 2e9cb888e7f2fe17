package dev.bourse.audit;

import dev.bourse.store.Row;

/**
 * A stored row of the audit trail.
 *
 * @param id increasing over all trails
 * @param orgId the owner of its trail, {@link Trails#PLATFORM} for the platform's
 * @param isRead whether it records a read
 * @param isSegmented whether it is stored as an entry of a segment
 */
record RecordedRow(
    long id,
    long atMillis,
    String orgId,
    String actor,
    String action,
    String subject,
    String detail,
    boolean isRead,
    boolean isSegmented) {

  /** The start of a query whose rows {@link #from} can read. */
  static final String SELECT = "SELECT id, " + AuditStore.COLUMNS + " FROM audit ";

  static RecordedRow from(Row row) {
    return new RecordedRow(
        row.integer("id"),
        row.integer("ts"),
        row.text("org_id"),
        row.text("actor"),
        row.text("action"),
        row.text("subject"),
        row.text("detail"),
        row.truth("is_read"),
        false);
  }

  Chain chain() {
    return new Chain(orgId, isRead);
  }
}
