package dev.bourse.store;

import dev.bourse.signals.Signals;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;

/**
 * The port to durable state. Every method may be called from any thread and does not block it.
 * Futures complete on the caller's Vert.x context if there is one.
 */
public interface Database {
  /**
   * The time within which every process enforces a revocation. An audited write is committed only
   * if the information about its caller is no older.
   */
  long REVOKED_MILLIS = 1_000;

  /**
   * The maximum age of that information when a commit is requested. It is longer than the interval
   * between two polls of other processes' changes; the rest of the second is left for waiting.
   */
  long KNOWN_MILLIS = 600;

  /**
   * Returns the rows of a query, in order, as of the last commit that completed before the call.
   *
   * <p>Fails with {@link StoreUnavailableException} if the queue of reads is full or the engine
   * does not answer, and with the engine's own exception for faulty SQL.
   *
   * @param parameters values for the {@code ?} placeholders: String, Long, Integer, Boolean, byte[]
   *     or null
   */
  <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper);

  /** Returns the first row of a query; empty if there is none. */
  default <T> Future<Optional<T>> readFirst(String sql, List<?> parameters, RowMapper<T> mapper) {
    return read(sql, parameters, mapper).map(found -> found.stream().findFirst());
  }

  /** Returns the row of a query that always has one, for example a sum. */
  default <T> Future<T> readOne(String sql, List<?> parameters, RowMapper<T> mapper) {
    return read(sql, parameters, mapper).map(found -> found.get(0));
  }

  /** Returns whether a query finds any row. */
  default Future<Boolean> exists(String sql, List<?> parameters) {
    return read(sql, parameters, row -> true).map(found -> !found.isEmpty());
  }

  /**
   * Executes all statements in one transaction, or none. When the future succeeds, the change is on
   * disk and every later read sees it.
   *
   * <p>Fails with a statement's own exception if the statement changed another number of rows than
   * it demands; with {@link StoreUnavailableException} if a retry may succeed (queue full, engine
   * unreachable, disk full); with the engine's own exception for anything else. In each case the
   * commit has no effect, except possibly for a {@link StoreUnavailableException#mayBeStored()}.
   *
   * @param changes notifications to other processes, sent only after the commit is stored; at most
   *     64
   */
  Future<Void> commit(List<Statement> statements, List<Change> changes);

  /**
   * Executes all statements in one transaction, or none, without notifications to other processes.
   */
  default Future<Void> commit(List<Statement> statements) {
    return commit(statements, List.of());
  }

  /**
   * Reports other processes' changes to a listener while the store is open. For every change stored
   * after this call, the listener receives either the change or a report that it missed some; so
   * listen first, then read. The listener runs on the caller's context, one call at a time. A store
   * that is not shared reports nothing.
   */
  void listen(ChangeListener listener);

  /**
   * Returns the newest id of the audit trail below which no more rows can appear: no open commit of
   * any process can still add a row at or below it. Rows stored before the call are included,
   * unless an older commit takes longer than half a second.
   *
   * @param enough the id the caller needs; a cached answer is returned if it covers that
   */
  Future<Long> settledTrail(long enough);

  /**
   * Returns a query, for use within a commit's statement, that allocates ids of the audit trail;
   * its one placeholder is their number. Its row has {@code first_id}, {@code last_id}, and {@code
   * skips}, the ids in between that other processes took: {@code place:ids} separated by commas,
   * the number of ids skipped before a position, counted from 0. Within a commit, later ids are
   * larger than earlier ones.
   */
  String newTrailIdsSql();

  /**
   * Deletes some of the engine's own old records; returns whether there are more. A process of a
   * shared store calls it every minute, which also shows others that it lives.
   */
  default Future<Boolean> prune() {
    return Future.succeededFuture(false);
  }

  /** Whether other processes may be using the same store at the same time. */
  boolean isShared();

  /**
   * Returns the identity of the stored state's history. It changes after commits may have been
   * lost: after a standby was promoted or a backup was restored. Constant for a store that cannot
   * detect that.
   */
  default Future<String> lineage() {
    return Future.succeededFuture("");
  }

  /**
   * Returns how often this process noticed that commits it had stored or read were lost. Commits
   * that were decided before fail; see {@link #commit}. Called on any thread.
   */
  default long setBacks() {
    return 0;
  }

  /**
   * Returns an SQL expression for the current time in epoch milliseconds, by the clock of the
   * machine that stores the rows.
   */
  String clockSql();

  /**
   * Registers the engine's metrics. Called once; metrics read memory only. Does nothing for a store
   * without metrics of its own.
   */
  default void registerMetrics(Signals signals) {}

  /**
   * Completes queued work, then closes. Later calls fail with {@link StoreUnavailableException}.
   */
  Future<Void> close();
}
