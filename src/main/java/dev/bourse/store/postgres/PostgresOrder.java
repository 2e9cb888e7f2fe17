package dev.bourse.store.postgres;

import dev.bourse.store.Change;
import dev.bourse.store.ChangeListener;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Determines up to which id the rows of the audit trail are settled. Ids are allocated before
 * commits and commits overtake each other, so a row may appear below one that was already seen.
 *
 * <p>Each group of commits holds a shared advisory lock, which never waits, from before its first
 * id until the end of its transaction. The lock's number is the newest id allocated by then, so the
 * group's own ids are above it. A reader reads the newest id and then the lowest number among the
 * locks: no commit can add a row at or below the lower of the two, because a group without a lock
 * at that time had no id yet.
 *
 * <p>A promoted standby may lack ids that were shown. It starts a new timeline, and the first
 * session that writes to it moves the sequence past all of them. So ids are never reused, and
 * settled rows stay settled.
 *
 * <p>Rejected: storing rows without ids and numbering them in a second transaction, so that a
 * hanging commit hides no others. At one row per commit it takes 10 to 50 % more of the server's
 * time and 20 to 50 % more WAL, and a page waits for the second transaction. It would not replace
 * the locks yet: processes of the previous release write at the same time, and after a rollback to
 * that release.
 */
final class PostgresOrder implements ChangeListener {
  /** The upper 16 bits of the locks' numbers, which separate them from other locks. */
  private static final int TAG = 0x4253;

  private static final int ID_BITS = 48;

  private static final String NEWEST =
      "SELECT COALESCE(pg_sequence_last_value(to_regclass('audit_id_seq')), 0) AS id";

  /** Runs in each group after BEGIN. */
  static final String ANNOUNCE =
      """
      SELECT CAST(pg_advisory_xact_lock_shared(
        (CAST(%d AS BIGINT) << %d) | (%s)) AS text)\
      """
          .formatted(TAG, ID_BITS, NEWEST);

  /** See {@link Database#newTrailIdsSql}. A sequence allocates one id at a time. */
  static final String NEW_IDS =
      """
      SELECT MIN(id) AS first_id, MAX(id) AS last_id, \
      COALESCE(string_agg(CASE WHEN skipped > 0 THEN place || ':' || skipped END, ',' \
      ORDER BY id), '') AS skips \
      FROM (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place, \
      id - lag(id) OVER (ORDER BY id) - 1 AS skipped \
      FROM (SELECT nextval('audit_id_seq') AS id \
      FROM generate_series(1, CAST(? AS BIGINT))) AS taken) AS placed\
      """;

  /** Sequences have no old values, so the condition also holds after the lock was acquired. */
  private static final String IS_OTHER_TIMELINE =
      """
      to_regclass('audit_timeline') IS NOT NULL
      AND pg_sequence_last_value(to_regclass('audit_timeline')) IS DISTINCT FROM %d\
      """;

  /**
   * Returns SQL that a writing session runs before its first group, in one transaction. Sequence
   * {@code audit_timeline} has the timeline for which ids were last raised. It is set after the
   * ids, so a session that finds the present timeline gets ids above them. The lock keeps a second
   * session from setting the sequence back to the first session's value; while no raise is due, no
   * session takes it. A store that is not set up yet has no such sequence.
   *
   * <p>Ids are raised to the time since 2026 in units of 10 µs. A server gets ahead of that only at
   * 100,000 rows a second all the time. So ids are above those of any earlier server, even one
   * whose timeline has the same number because the standby never learned of it. The locks' numbers
   * suffice for them until the year 2115.
   *
   * @param timeline the timeline of the session's server
   */
  static String raise(long timeline) {
    return """
      SELECT pg_advisory_xact_lock(%1$d, 0) WHERE %3$s;
      SELECT CASE WHEN setval(to_regclass('audit_id_seq'), GREATEST(
          nextval(to_regclass('audit_id_seq')),
          CAST((EXTRACT(EPOCH FROM clock_timestamp()) - 1767225600) * 100000 AS bigint))) > 0
        THEN setval(to_regclass('audit_timeline'), %2$d) END
      WHERE %3$s\
      """
        .formatted(TAG, timeline, IS_OTHER_TIMELINE.formatted(timeline));
  }

  /**
   * One statement, so that its parts come from one server; it reads the locks after the sequence.
   * The newest stored id is a row's, see table {@code audit_read_segment}. Ids that the sequence
   * has not allocated are never settled, so no reader waits for them.
   */
  private static final String SETTLED =
      """
      WITH newest AS MATERIALIZED (%3$s)
      SELECT LEAST(newest.id, (SELECT COALESCE(MAX(id), 0) FROM audit)) AS stored,
      LEAST(newest.id, (
        SELECT MIN(number & ((CAST(1 AS BIGINT) << %1$d) - 1)) FROM (
          SELECT (CAST(classid AS BIGINT) << 32) | CAST(objid AS BIGINT) AS number FROM pg_locks
          WHERE locktype = 'advisory' AND objsubid = 1
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS locks
        WHERE number >> %1$d = %2$d AND newest.id >= 0)) AS settled FROM newest\
      """
          .formatted(ID_BITS, TAG, NEWEST);

  /** How long a reader waits for open commits that may add rows below a stored one. */
  private static final long PATIENCE_NANOS = 500_000_000;

  private static final long POLL_MILLIS = 5;

  private final Vertx vertx;
  private final Database database;

  /** The settled id, which stays settled on the same server. */
  private final AtomicLong known = new AtomicLong();

  PostgresOrder(Vertx vertx, Database database) {
    this.vertx = vertx;
    this.database = database;
  }

  @Override
  public void changed(Change change) {
    // Only committed data counts here, and the query reads that itself.
  }

  /**
   * Forgets the settled id, because an earlier state of the server may answer and allocate ids
   * again.
   */
  @Override
  public void missed() {
    known.set(0);
  }

  /** See {@link Database#settledTrail}. */
  Future<Long> settled(long enough) {
    return known.get() >= enough
        ? Future.succeededFuture(known.get())
        : ask()
            .compose(answer -> settled(answer, answer.stored, System.nanoTime() + PATIENCE_NANOS));
  }

  /**
   * Waits until the rows stored at the time of the call are settled, not for commits above them. A
   * commit takes milliseconds. A slower one hides only the rows above it.
   */
  private Future<Long> settled(TrailPosition answer, long stored, long deadlineNanos) {
    long settled = known.accumulateAndGet(answer.settled, Math::max);
    return settled >= stored || System.nanoTime() - deadlineNanos > 0
        ? Future.succeededFuture(settled)
        : vertx
            .timer(POLL_MILLIS)
            .compose(waited -> ask())
            .compose(next -> settled(next, stored, deadlineNanos));
  }

  private record TrailPosition(long stored, long settled) {}

  private Future<TrailPosition> ask() {
    return database.readOne(
        SETTLED,
        List.of(),
        row -> new TrailPosition(row.integer("stored"), row.integer("settled")));
  }
}
