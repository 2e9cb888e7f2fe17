package dev.bourse.store.postgres;

import dev.bourse.store.BatchedPromise;
import dev.bourse.store.RowMapper;
import dev.bourse.store.StoreSignals;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgConnection;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The connections that answer queries, one query at a time each, and the queue of waiting queries.
 * If a connection is lost, its query is run again on another one; all connections may be lost at
 * once. A connection that was idle is probed together with its next query, so that a silent loss
 * costs a query {@link PostgresLink#probe a second and a half} and not the time limit of a query.
 */
final class PostgresReaders {
  /** A query of a caller. */
  static final class Query<T> {
    private final PostgresSql sql;
    private final Tuple values;
    private final RowMapper<T> mapper;
    private final BatchedPromise<List<T>> reply;
    private final long askedNanos = System.nanoTime();
    private int attempts;
    private long timer = -1;

    Query(PostgresSql sql, Tuple values, RowMapper<T> mapper, BatchedPromise<List<T>> reply) {
      this.sql = sql;
      this.values = values;
      this.mapper = mapper;
      this.reply = reply;
    }

    private void answer(RowSet<Row> rows) {
      List<T> mapped = new ArrayList<>(rows.size());
      try {
        for (Row row : rows) {
          mapped.add(mapper.map(new PostgresRow(row)));
        }
        reply.succeed(mapped);
      } catch (Throwable t) {
        // The mapper's own failure, including an Error, belongs to its caller.
        reply.fail(t);
      }
      BatchedPromise.deliver(List.of(reply));
    }

    private void fail(Throwable cause) {
      reply.fail(cause);
      BatchedPromise.deliver(List.of(reply));
    }
  }

  private final VertxInternal vertx;
  private final PostgresConfig config;
  private final PrimaryHistory history;
  private final StoreSignals counted;
  private final List<Reader> readers = new ArrayList<>();

  // Guarded by this.
  private final LinkedHashSet<Query<?>> waiting = new LinkedHashSet<>();
  private final ArrayDeque<Reader> idle = new ArrayDeque<>();
  private int connected;
  private int busy;
  private @Nullable Throwable away;
  private boolean closed;
  private @Nullable Runnable drained;

  PostgresReaders(
      VertxInternal vertx,
      PostgresConfig config,
      PrimaryHistory history,
      RandomGenerator random,
      StoreSignals counted) {
    this.history = history;
    this.vertx = vertx;
    this.counted = counted;
    this.config = config;
    for (int i = 0; i < config.readers(); i++) {
      readers.add(new Reader("reader " + i, vertx.createEventLoopContext(), random));
    }
  }

  Future<Void> connect() {
    return Future.all(readers.stream().map(reader -> reader.link.connect()).toList()).mapEmpty();
  }

  /** Returns null if the query was accepted, otherwise the reason for its rejection. */
  @Nullable StoreUnavailableException offer(Query<?> query) {
    Reader reader;
    synchronized (this) {
      if (closed) {
        return new StoreUnavailableException("the store is closed", null);
      }
      if (away != null) {
        return PostgresFailure.unavailable("PostgreSQL cannot be reached", away);
      }
      reader = idle.poll();
      if (reader != null) {
        busy++;
      } else if (waiting.size() < config.queuedReads()) {
        enqueue(query);
      } else {
        return new StoreUnavailableException(
            waiting.size() + " queries are waiting, which is the limit", null);
      }
    }
    if (reader != null) {
      reader.start(query);
    }
    return null;
  }

  /** Returns how many queries wait. */
  synchronized int waiting() {
    return waiting.size();
  }

  /** Returns how many connections are up. */
  synchronized int connected() {
    return connected;
  }

  private synchronized void enqueue(Query<?> query) {
    waiting.add(query);
    query.timer = vertx.setTimer(config.acquireMillis(), id -> expire(query));
  }

  private void expire(Query<?> query) {
    boolean isWaiting;
    synchronized (this) {
      isWaiting = waiting.remove(query);
    }
    if (isWaiting) {
      query.fail(
          new StoreUnavailableException(
              "no connection to the store became free within " + config.acquireMillis() + " ms",
              null));
    }
  }

  /**
   * Returns the next query for a reader that has a connection and is idle; null if there is none.
   */
  private synchronized @Nullable Query<?> next(Reader reader) {
    Query<?> query = waiting.stream().findFirst().orElse(null);
    if (query == null) {
      idle.push(reader);
      checkDrained();
    } else {
      waiting.remove(query);
      vertx.cancelTimer(query.timer);
      busy++;
    }
    return query;
  }

  private synchronized void release() {
    busy--;
    checkDrained();
  }

  private void checkDrained() {
    if (drained != null && busy == 0 && waiting.isEmpty()) {
      drained.run();
      drained = null;
    }
  }

  private synchronized void joined() {
    connected++;
    away = null;
  }

  private void left(Reader reader, Throwable cause, boolean isAway) {
    List<Query<?>> refused = List.of();
    synchronized (this) {
      idle.remove(reader);
      if (!isAway) {
        connected--;
      } else if (connected == 0) {
        away = cause;
        refused = List.copyOf(waiting);
        waiting.clear();
        checkDrained();
      }
    }
    for (Query<?> query : refused) {
      vertx.cancelTimer(query.timer);
      query.fail(PostgresFailure.unavailable("PostgreSQL cannot be reached", cause));
    }
  }

  /** Runs a task once all accepted queries are answered; rejects new ones from now on. */
  synchronized void drain(Runnable whenDrained) {
    closed = true;
    drained = whenDrained;
    checkDrained();
  }

  /**
   * Drops connections with a query sent before a moment that is not answered, and all that have
   * received nothing since.
   */
  void dropSentBefore(long nanoTime) {
    readers.forEach(reader -> reader.context.runOnContext(v -> reader.dropSentBefore(nanoTime)));
  }

  /**
   * Drops connections that have received nothing since a moment, except those whose query follows a
   * probe of its own. A query without one, because its connection had just been used, would
   * otherwise wait out its time limit. If it was only slow, it runs again.
   */
  private void dropUnheardSince(long nanoTime) {
    readers.forEach(reader -> reader.context.runOnContext(v -> reader.dropUnheardSince(nanoTime)));
  }

  Future<Void> close() {
    return Future.join(readers.stream().map(reader -> reader.link.close()).toList()).mapEmpty();
  }

  /** One connection. Runs on its context. */
  private final class Reader implements PostgresLink.User {
    private final ContextInternal context;
    private final PostgresLink link;
    private @Nullable PgConnection connection;
    private boolean isAsking;
    private boolean isProbed;
    private long sentNanos;

    Reader(String name, ContextInternal context, RandomGenerator random) {
      this.context = context;
      String settings =
          "SET default_transaction_read_only = on; SET statement_timeout = " + config.queryMillis();
      link = new PostgresLink(name, context, config, history, settings, random, this);
    }

    @Override
    public void up(PgConnection fresh) {
      connection = fresh;
      joined();
      proceed();
    }

    @Override
    public void down(Throwable cause, boolean isAway) {
      connection = null;
      left(this, cause, isAway);
    }

    private void dropSentBefore(long nanoTime) {
      PgConnection open = connection;
      if (open != null && isAsking && sentNanos - nanoTime < 0) {
        link.drop(open, "no answer while the server answers on another connection");
      }
      dropUnheardSince(nanoTime);
    }

    private void dropUnheardSince(long nanoTime) {
      PgConnection open = connection;
      if (open != null && !(isAsking && isProbed) && link.heardNanos() - nanoTime < 0) {
        link.drop(open, "another connection was lost silently");
      }
    }

    @Override
    public void silent(long sinceNanos) {
      PostgresReaders.this.dropUnheardSince(sinceNanos);
    }

    void start(Query<?> query) {
      context.execute(() -> run(query));
    }

    private void run(Query<?> query) {
      PgConnection open = connection;
      if (open == null) {
        // The connection was lost after this reader was chosen.
        again(query, new IllegalStateException("the connection was lost"));
        return;
      }
      query.attempts++;
      isAsking = true;
      sentNanos = System.nanoTime();
      query.reply.recordStart();
      if (query.attempts == 1) {
        counted.recordReadWait(sentNanos - query.askedNanos);
      }
      long watchdog =
          context.setTimer(
              config.watchdogMillis(),
              id -> {
                // Not again: the query has used its time limit.
                query.attempts = Integer.MAX_VALUE;
                link.drop(open, "a query was not answered");
              });
      isProbed = link.probe(open);
      open.preparedQuery(query.sql.text())
          .execute(query.values)
          .onComplete(
              answer -> {
                context.owner().cancelTimer(watchdog);
                if (connection == open || connection == null) {
                  isAsking = false;
                }
                if (answer.succeeded()) {
                  query.answer(answer.result());
                  release();
                } else {
                  failed(query, answer.cause());
                }
                if (connection == open) {
                  proceed();
                }
              });
    }

    private void proceed() {
      Query<?> query = next(this);
      if (query != null) {
        // Not at once: a long queue must not deepen the stack.
        context.runOnContext(v -> run(query));
      }
    }

    private void failed(Query<?> query, Throwable cause) {
      switch (PostgresFailure.of(cause, false)) {
        case STATEMENT -> {
          query.fail(cause);
          release();
        }
        case CONFLICT, CONNECTION -> again(query, cause);
        case SERVER -> {
          query.fail(PostgresFailure.unavailable("cannot read from the store", cause));
          release();
        }
      }
    }

    private void again(Query<?> query, Throwable cause) {
      StoreUnavailableException refusal = null;
      if (query.attempts > config.readers()) {
        refusal = PostgresFailure.unavailable("cannot read from the store", cause);
      } else {
        synchronized (PostgresReaders.this) {
          if (away == null) {
            enqueue(query);
          } else {
            refusal = PostgresFailure.unavailable("PostgreSQL cannot be reached", away);
          }
        }
      }
      if (refusal != null) {
        query.fail(refusal);
      }
      release();
      wake();
    }
  }

  /** Passes waiting queries to idle readers. */
  private void wake() {
    Reader reader;
    Query<?> query;
    synchronized (this) {
      if (waiting.isEmpty() || idle.isEmpty()) {
        return;
      }
      reader = idle.pop();
      query = next(reader);
    }
    if (query != null) {
      reader.start(query);
    }
  }
}
