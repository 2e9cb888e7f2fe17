package dev.bourse.store.postgres;

import dev.bourse.store.StoreSignals;
import dev.bourse.store.StoreUnavailable;
import io.vertx.core.Future;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgConnection;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The one connection that writes: it takes the commits that wait, in order, a group at a time. One,
 * because commits are stored in the order they were asked for, and because a group shares what a
 * transaction costs; measured, it stores more than as many connections as there are callers.
 *
 * <p>A commit whose answer was lost with the connection is looked up by its transaction's id over
 * the next one, before anything else.
 */
final class PostgresWriter implements PostgresLink.User, PostgresBatch.Owner {
  /**
   * Past this many, sharing a transaction among more gains little and the first ones wait longer.
   */
  private static final int GROUP_COMMITS = 64;

  private static final int GROUP_STATEMENTS = 1_024;

  /** A commit that waits longer for a row is in a deadlock, or behind a process that hangs. */
  private static final int LOCK_MILLIS = 500;

  /** A process that hangs must not keep its rows locked for the others. */
  private static final int IDLE_MILLIS = 3_000;

  /** The server may take a moment to end a transaction whose connection is gone. */
  private static final long ASK_AGAIN_MILLIS = 100;

  private static final String ASK = "SELECT pg_xact_status(CAST(CAST($1 AS text) AS xid8))";

  private record Unknown(
      String transactionId, List<PostgresBatch.Commit> commits, Throwable cause) {}

  private final ContextInternal context;
  private final PostgresConfig config;
  private final RandomGenerator random;
  private final PostgresChanges changes;
  private final PostgresLink link;
  private final StoreSignals counted;

  // Guarded by this.
  private final ArrayDeque<PostgresBatch.Commit> queue = new ArrayDeque<>();
  private int waiting;
  private boolean isScheduled;
  private @Nullable Throwable away;
  private boolean closed;
  private @Nullable Runnable drained;

  // On the context alone.
  private @Nullable PgConnection connection;
  private final List<Unknown> unknowns = new ArrayList<>();
  private boolean isBusy;
  private int underWay;
  private long sentNanos;

  PostgresWriter(
      VertxInternal vertx,
      PostgresConfig config,
      RandomGenerator random,
      PostgresChanges changes,
      StoreSignals counted) {
    this.counted = counted;
    context = vertx.createEventLoopContext();
    this.config = config;
    this.random = random;
    this.changes = changes;
    String settings =
        """
        SET statement_timeout = %s; SET lock_timeout = %s;
        SET idle_in_transaction_session_timeout = %s\
        """
            .formatted(config.queryMillis(), LOCK_MILLIS, IDLE_MILLIS);
    link = new PostgresLink("writer", context, config, settings, random, this);
  }

  Future<Void> connect() {
    return link.connect();
  }

  /** Null when the commit was accepted, else why it was not. */
  @Nullable StoreUnavailable offer(PostgresBatch.Commit commit) {
    synchronized (this) {
      if (closed) {
        return new StoreUnavailable("the store is closed", null);
      }
      if (away != null) {
        return PostgresFailure.unavailable("PostgreSQL cannot be reached", away);
      }
      if (waiting > 0 && waiting + commit.weight() > config.queuedStatements()) {
        return new StoreUnavailable(
            waiting + " statements wait for the store; " + config.queuedStatements() + " may",
            null);
      }
      queue.add(commit);
      waiting += commit.weight();
      if (isScheduled) {
        return null;
      }
      isScheduled = true;
    }
    context.runOnContext(v -> next());
    return null;
  }

  /** How many statements wait. */
  synchronized int waiting() {
    return waiting;
  }

  private synchronized List<PostgresBatch.Commit> take() {
    List<PostgresBatch.Commit> group = new ArrayList<>();
    int statements = 0;
    while (!queue.isEmpty() && group.size() < GROUP_COMMITS && statements < GROUP_STATEMENTS) {
      PostgresBatch.Commit commit = queue.remove();
      group.add(commit);
      statements += commit.weight();
    }
    waiting -= statements;
    isScheduled = !group.isEmpty();
    return group;
  }

  private void next() {
    PgConnection open = connection;
    if (open == null || isBusy) {
      return;
    }
    List<PostgresBatch.Commit> group = take();
    if (group.isEmpty()) {
      checkDrained();
      return;
    }
    isBusy = true;
    underWay++;
    sentNanos = System.nanoTime();
    PostgresBatch batch = new PostgresBatch(open, context, random, changes, this, counted, group);
    long watchdog =
        context.setTimer(
            config.watchdogMillis(), id -> link.drop(open, "a group of commits was not answered"));
    batch
        .run()
        .onComplete(
            v -> {
              context.owner().cancelTimer(watchdog);
              underWay--;
              checkDrained();
            });
  }

  @Override
  public void free(PgConnection which) {
    if (which == connection) {
      isBusy = false;
      next();
    }
  }

  @Override
  public void unknown(String transactionId, List<PostgresBatch.Commit> commits, Throwable cause) {
    Unknown unknown = new Unknown(transactionId, commits, cause);
    unknowns.add(unknown);
    counted.unknown();
    // Whoever asked for them may never learn that they are stored; what is in memory shall.
    changes.doubt(transactionId);
    context.setTimer(
        config.queryMillis(),
        id ->
            resolve(
                unknown,
                false,
                PostgresFailure.unavailable(
                    "whether the commit is stored is unknown: its answer was lost", cause, true)));
    if (connection != null) {
      ask(unknown);
    }
  }

  private void ask(Unknown unknown) {
    PgConnection open = connection;
    if (open == null || !unknowns.contains(unknown)) {
      return;
    }
    open.preparedQuery(ASK)
        .execute(Tuple.of(unknown.transactionId))
        .map(rows -> rows.iterator().next().getString(0))
        .onSuccess(
            status -> {
              if ("in progress".equals(status)) {
                context.setTimer(ASK_AGAIN_MILLIS, id -> ask(unknown));
              } else {
                resolve(unknown, "committed".equals(status), notStored(unknown));
              }
            })
        .onFailure(
            failure -> {
              // A number from the future: the server that took over never had the transaction.
              if (PostgresFailure.of(failure, true) == PostgresFailure.STATEMENT) {
                resolve(unknown, false, notStored(unknown));
              }
            });
  }

  private static StoreUnavailable notStored(Unknown unknown) {
    return PostgresFailure.unavailable("the store cannot be written", unknown.cause);
  }

  private void resolve(Unknown unknown, boolean isStored, StoreUnavailable otherwise) {
    if (unknowns.remove(unknown)) {
      PostgresBatch.resolve(unknown.commits, isStored, otherwise);
      checkDrained();
    }
  }

  @Override
  public void up(PgConnection fresh) {
    connection = fresh;
    // Groups of an earlier connection have failed with it, and are heard no more.
    isBusy = false;
    synchronized (this) {
      away = null;
    }
    List.copyOf(unknowns).forEach(this::ask);
    next();
  }

  @Override
  public void down(Throwable cause, boolean isAway) {
    connection = null;
    if (!isAway) {
      return;
    }
    List<PostgresBatch.Commit> refused;
    synchronized (this) {
      away = cause;
      refused = List.copyOf(queue);
      queue.clear();
      waiting = 0;
      isScheduled = false;
    }
    PostgresBatch.resolve(
        refused, false, PostgresFailure.unavailable("PostgreSQL cannot be reached", cause));
    checkDrained();
  }

  /** Runs once everything accepted is answered; nothing is accepted from now on. */
  void drain(Runnable whenDrained) {
    synchronized (this) {
      closed = true;
      drained = whenDrained;
    }
    context.runOnContext(v -> checkDrained());
  }

  private void checkDrained() {
    Runnable done;
    synchronized (this) {
      done = drained;
      if (done == null || !queue.isEmpty() || underWay > 0 || !unknowns.isEmpty()) {
        return;
      }
      drained = null;
    }
    done.run();
  }

  /** Gives up the connection when what was sent over it before a moment is not answered. */
  void dropSentBefore(long nanoTime) {
    context.runOnContext(
        v -> {
          PgConnection open = connection;
          if (open != null && underWay > 0 && sentNanos - nanoTime < 0) {
            link.drop(open, "it is silent while the server answers on another");
          }
        });
  }

  Future<Void> close() {
    return link.close();
  }
}
