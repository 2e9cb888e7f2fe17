package dev.bourse.audit;

import dev.bourse.store.Row;
import java.util.List;

/** The reads of segments, for tests of other packages. */
public final class SegmentReads {
  /** The start of a query whose rows {@link #entries} can read. */
  public static final String SELECT = "SELECT first_id, skips, body FROM audit_read_segment ";

  private SegmentReads() {}

  public static List<TrailEntry> entries(Row row) {
    return ReadSegment.skipping(
        ReadSegment.decode(row.integer("first_id"), row.bytes("body")), row.text("skips"));
  }
}
