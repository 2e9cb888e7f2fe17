package dev.bourse.store.postgres;

import dev.bourse.store.Change;
import dev.bourse.store.ChangeListener;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Tells readers of the audit trail how far its rows are settled, for ids are handed out before
 * commits and commits overtake each other: a row may appear below one that was seen already.
 *
 * <p>Each group of commits holds a shared advisory lock, which never waits, from before its first
 * id until its transaction is over. The lock's number is the newest id handed out by then, so the
 * group's own ids are above it. A reader notes the newest id and then the least number among the
 * locks: no commit can still bring a row at or below the lesser of the two, because a group that
 * held no lock at that time had no id yet.
 *
 * <p>A standby that is promoted may lack ids that were shown. It begins a new timeline, and the
 * first session that writes to it moves the sequence past all of them. So an id is never given
 * twice, and what was settled before stays settled.
 *
 * <p>Rejected: storing rows without ids and numbering them in a second transaction, so that a
 * commit that hangs hides no others. With a row a commit it takes a tenth to a half more of the
 * server's time and a fifth to a half more WAL, and a page waits for the second transaction. It
 * would not replace the locks yet: processes of the release before write beside this one, and after
 * a way back without it.
 */
final class PostgresOrder implements ChangeListener {
  /** The upper 16 bits of the locks' numbers, which keeps them apart from other locks. */
  private static final int TAG = 0x4253;

  private static final int ID_BITS = 48;

  private static final String NEWEST =
      "SELECT COALESCE(pg_sequence_last_value(to_regclass('audit_id_seq')), 0) AS id";

  /** What a group says after BEGIN. */
  static final String ANNOUNCE =
      """
      SELECT CAST(pg_advisory_xact_lock_shared(
        (CAST(%d AS BIGINT) << %d) | (%s)) AS text)\
      """
          .formatted(TAG, ID_BITS, NEWEST);

  /** See {@link Database#newTrailIdsSql}. A sequence gives one id at a time. */
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

  /** Sequences have no old values, so the condition also holds behind the lock. */
  private static final String IS_OTHER_TIMELINE =
      """
      to_regclass('audit_timeline') IS NOT NULL
      AND pg_sequence_last_value(to_regclass('audit_timeline')) IS DISTINCT FROM %d\
      """;

  /**
   * Returns what a session that writes says before its first group, in one transaction. Sequence
   * {@code audit_timeline} has the timeline for which ids were last raised; it is set after them,
   * so that a session that finds the present one takes ids above them. The lock keeps a second
   * session from setting the sequence back to where the first has set it; while nothing is to be
   * raised, no session takes it. A store that is not set up yet has no such sequence.
   *
   * <p>Ids are raised to the time since 2026 in units of 10 µs. No server gets ahead of that, which
   * would take 100,000 rows a second all the time; so ids are above those of any server before,
   * even of one whose timeline has the same number because the standby never heard of it. The
   * locks' numbers suffice for them until the year 2115.
   *
   * @param timeline of the session's server
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
   * One statement, so that all of it is of one server; the locks are looked at after the sequence.
   * The newest stored id is a row's, see table {@code audit_read_segment}. Ids that the sequence
   * has not handed out are never settled, so no reader waits for them.
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

  /** How long a reader waits for commits under way that may bring rows below a stored one. */
  private static final long PATIENCE_NANOS = 500_000_000;

  private static final long POLL_MILLIS = 5;

  private final Vertx vertx;
  private final Database database;

  /** What is settled stays settled, on a server that is the same. */
  private final AtomicLong known = new AtomicLong();

  PostgresOrder(Vertx vertx, Database database) {
    this.vertx = vertx;
    this.database = database;
  }

  @Override
  public void changed(Change change) {
    // Only what is stored for good counts here, and that is asked for.
  }

  /** An earlier state of the same server may answer from now on, which hands out ids again. */
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
   * Waits until what was stored when the reader came is settled, and not for commits above it. A
   * commit takes milliseconds. One that takes longer hides what is above it, and no more.
   */
  private Future<Long> settled(Answer answer, long stored, long deadlineNanos) {
    long settled = known.accumulateAndGet(answer.settled, Math::max);
    return settled >= stored || System.nanoTime() - deadlineNanos > 0
        ? Future.succeededFuture(settled)
        : vertx
            .timer(POLL_MILLIS)
            .compose(waited -> ask())
            .compose(next -> settled(next, stored, deadlineNanos));
  }

  private record Answer(long stored, long settled) {}

  private Future<Answer> ask() {
    return database.readOne(
        SETTLED, List.of(), row -> new Answer(row.integer("stored"), row.integer("settled")));
  }
}
