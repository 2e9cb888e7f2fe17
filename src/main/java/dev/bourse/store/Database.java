package dev.bourse.store;

import dev.bourse.signals.Signals;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;

/**
 * The port to durable state. Every method may be called from any thread and never blocks it; a
 * future completes on the caller's Vert.x context when there is one.
 */
public interface Database {
  /**
   * Past this a revocation is in force in every process: an audited write is carried out only if
   * what is known of its caller is no older.
   */
  long REVOKED_MILLIS = 1_000;

  /**
   * How old that may be when the commit is asked for: more than there is between two readings of
   * what other processes changed. The rest of the second is for waiting.
   */
  long KNOWN_MILLIS = 600;

  /**
   * Rows of one query, in order, as of the last commit that completed before the call.
   *
   * <p>Fails with {@link StoreUnavailable} when the queue of reads is full or the engine does not
   * answer, with the engine's own exception for faulty SQL.
   *
   * @param parameters values for the {@code ?} placeholders: String, Long, Integer, Boolean, byte[]
   *     or null
   */
  <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper);

  /** The first row of a query; empty for none. */
  default <T> Future<Optional<T>> readFirst(String sql, List<?> parameters, RowMapper<T> mapper) {
    return read(sql, parameters, mapper).map(found -> found.stream().findFirst());
  }

  /** The row of a query that always has one, as a sum does. */
  default <T> Future<T> readOne(String sql, List<?> parameters, RowMapper<T> mapper) {
    return read(sql, parameters, mapper).map(found -> found.get(0));
  }

  /** Whether a query finds any row. */
  default Future<Boolean> exists(String sql, List<?> parameters) {
    return read(sql, parameters, row -> true).map(found -> !found.isEmpty());
  }

  /**
   * Carries out all statements in one transaction, or none. When the future succeeds the change is
   * on disk and every later read sees it.
   *
   * <p>Fails with a statement's own refusal when it changed another number of rows than it demands;
   * with {@link StoreUnavailable} when the same commit may do later (queue full, engine away, disk
   * full); with the engine's own exception for anything else. In each case nothing of the commit is
   * stored, but for a {@link StoreUnavailable#mayBeStored()}.
   *
   * @param changes what other processes are told once this is stored, and only then; at most 64
   */
  Future<Void> commit(List<Statement> statements, List<Change> changes);

  /** Carries out all statements in one transaction, or none; other processes are told nothing. */
  default Future<Void> commit(List<Statement> statements) {
    return commit(statements, List.of());
  }

  /**
   * Tells a listener, for as long as the store is open, what other processes change. Of every
   * change stored after this call the listener hears either the change or that it missed some; so
   * listen first, then read. It is called on the caller's context, one call at a time. A store that
   * is not shared has nothing to tell.
   */
  void listen(ChangeListener listener);

  /**
   * The newest id of the audit trail up to which nothing can appear any more: no commit under way,
   * of whatever process, can still bring a row at or below it. What was stored before the call is
   * included, unless an older commit takes longer than half a second.
   *
   * @param enough an id up to which the caller asks; what is known is answered when it covers that
   */
  Future<Long> settledTrail(long enough);

  /**
   * A query that takes so many of the audit trail's ids as its one placeholder says, for a
   * statement of a commit. It has one row: {@code first_id}, {@code last_id}, and {@code skips},
   * which says where between them others took ids: {@code place:ids} divided by commas, so many ids
   * before the one of that place, counted from 0. Within a commit they are above those taken
   * before.
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
   * Returns the history that the stored state belongs to. It is another one once commits may have
   * been lost: after a standby was promoted or a backup was restored. Constant for a store that
   * cannot tell.
   */
  default Future<String> lineage() {
    return Future.succeededFuture("");
  }

  /**
   * Returns how often this process noticed that commits it had stored or read are gone. Commits
   * that were decided before fail; see {@link #commit}. Called on any thread.
   */
  default long setBacks() {
    return 0;
  }

  /**
   * The present moment in epoch milliseconds, by the clock of the machine that keeps the rows, as
   * an expression of SQL.
   */
  String clockSql();

  /**
   * Shows what the engine counts; once, and reading nothing but memory. A store that is none of its
   * own has nothing to show.
   */
  default void show(Signals signals) {}

  /** Completes what is queued, then closes. Later calls fail with {@link StoreUnavailable}. */
  Future<Void> close();
}
