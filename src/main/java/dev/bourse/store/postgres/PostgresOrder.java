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
 * group's own ids are above it. A reader first notes the newest id and then asks for the least
 * number among the locks: no commit can still bring a row at or below the lesser of the two, for
 * whoever held no lock when it asked had no id yet. A process of an older release holds no locks;
 * while one runs, its rows may appear late as they did before.
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

  private static final String LEAST_UNDER_WAY =
      """
      SELECT MIN(number & ((CAST(1 AS BIGINT) << %1$d) - 1)) AS id FROM (
        SELECT (CAST(classid AS BIGINT) << 32) | CAST(objid AS BIGINT) AS number FROM pg_locks
        WHERE locktype = 'advisory' AND objsubid = 1
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS locks
      WHERE number >> %1$d = %2$d\
      """
          .formatted(ID_BITS, TAG);

  /** How long a reader waits for the commits that were under way when it came. */
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

  /**
   * Another server may answer from now on, which has not come as far, or an earlier state of the
   * same: the ids are handed out anew there.
   */
  @Override
  public void missed() {
    known.set(0);
  }

  /** See {@link Database#settledTrail}. */
  Future<Long> settled(long enough) {
    return known.get() >= enough
        ? Future.succeededFuture(known.get())
        : one(NEWEST).compose(newest -> settled(newest, System.nanoTime() + PATIENCE_NANOS));
  }

  /** A commit takes milliseconds. One that takes longer hides what is above it, and no more. */
  private Future<Long> settled(long newest, long deadlineNanos) {
    return one(LEAST_UNDER_WAY)
        .compose(
            least -> {
              long settled = known.accumulateAndGet(Math.min(newest, least), Math::max);
              return settled >= newest || System.nanoTime() - deadlineNanos > 0
                  ? Future.succeededFuture(settled)
                  : vertx.timer(POLL_MILLIS).compose(waited -> settled(newest, deadlineNanos));
            });
  }

  private Future<Long> one(String sql) {
    return database.readOne(
        sql,
        List.of(),
        row -> {
          Long value = row.integerOrNull("id");
          return value == null ? Long.MAX_VALUE : value;
        });
  }
}
