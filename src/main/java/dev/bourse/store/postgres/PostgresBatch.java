package dev.bourse.store.postgres;

import dev.bourse.store.BatchedPromise;
import dev.bourse.store.Change;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreSignals;
import dev.bourse.store.StoreUnavailable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import io.vertx.pgclient.PgConnection;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A group of commits on its way into the database, over one connection, on that connection's
 * context.
 *
 * <p>All statements are sent at once between BEGIN and COMMIT; COMMIT waits for their answers, for
 * only those tell whether the guards held. When one did not, the group is rolled back and run again
 * with a savepoint for each commit, so that each fails alone. When another transaction was in the
 * way, the commits run again one by one, each in a transaction of its own: it locks its few rows in
 * the order every commit does, while two groups may lock theirs crosswise.
 */
final class PostgresBatch {
  private static final int CONFLICT_ATTEMPTS = 4;

  /** How long a commit waits, at most, before it tries again against the same rival. */
  private static final int CONFLICT_PAUSE_MILLIS = 40;

  /**
   * Rows that are appended by one statement: to begin and end one costs the server as much as the
   * row. Twice as many gain little more.
   */
  private static final int ROWS = 8;

  private static final String TRANSACTION_ID = "SELECT CAST(pg_current_xact_id() AS text)";

  /** A statement in the engine's terms. */
  record Bound(Statement statement, PostgresSql sql, Tuple values) {
    /** See {@link PostgresSql#bind} for its exceptions. */
    static Bound of(Statement statement) {
      PostgresSql sql = PostgresSql.of(statement.sql());
      return new Bound(statement, sql, sql.bind(statement.parameters()));
    }
  }

  /** What one caller wants stored. */
  static final class Commit {
    final List<Bound> statements;
    final List<Change> changes;
    final BatchedPromise<@Nullable Void> reply;
    private boolean isStored;
    private boolean isUnknown;
    private @Nullable Throwable failure;

    Commit(List<Bound> statements, List<Change> changes, BatchedPromise<@Nullable Void> reply) {
      this.statements = statements;
      this.changes = changes;
      this.reply = reply;
    }

    /** What counts against the queue: at least one, for an empty commit takes a place too. */
    int weight() {
      return Math.max(1, statements.size());
    }

    private void settle() {
      if (isStored) {
        reply.succeed(null);
      } else {
        reply.fail(failure == null ? unavailable(null) : failure);
      }
    }
  }

  /** A statement of a commit. */
  private record Step(Commit commit, Bound bound) {
    boolean isAlike(Step other) {
      return bound.sql.equals(other.bound.sql);
    }
  }

  /** All statements as the commits have them, but for what appends: that is last, and sorted. */
  private static List<Step> inOrder(List<Commit> some) {
    List<Step> steps = new ArrayList<>();
    Map<PostgresSql, List<Step>> appending = new LinkedHashMap<>();
    for (Commit commit : some) {
      for (Bound bound : commit.statements) {
        (bound.statement.appends()
                ? appending.computeIfAbsent(bound.sql, sql -> new ArrayList<>())
                : steps)
            .add(new Step(commit, bound));
      }
    }
    appending.values().forEach(steps::addAll);
    return steps;
  }

  private static Tuple joined(List<Step> steps) {
    Tuple values = Tuple.tuple();
    for (Step step : steps) {
      for (int i = 0; i < step.bound.values.size(); i++) {
        values.addValue(step.bound.values.getValue(i));
      }
    }
    return values;
  }

  /** Who runs the groups. */
  interface Owner {
    /** The connection can take the next group; this one may still await the answer to COMMIT. */
    void free(PgConnection connection);

    /** The connection was lost before COMMIT was answered. */
    void unknown(String transactionId, List<Commit> commits, Throwable cause);
  }

  private enum Verdict {
    GOOD,
    FAILED,
    CONFLICT,
    LOST
  }

  private final PgConnection connection;
  private final ContextInternal context;
  private final RandomGenerator random;
  private final PostgresChanges changes;
  private final Owner owner;
  private final StoreSignals counted;
  private final List<Commit> commits;
  private final long begunNanos = System.nanoTime();
  private final Promise<Void> ended = Promise.promise();
  private String transactionId = "";

  PostgresBatch(
      PgConnection connection,
      ContextInternal context,
      RandomGenerator random,
      PostgresChanges changes,
      Owner owner,
      StoreSignals counted,
      List<Commit> commits) {
    this.connection = connection;
    this.context = context;
    this.random = random;
    this.changes = changes;
    this.owner = owner;
    this.counted = counted;
    this.commits = commits;
    commits.forEach(commit -> commit.reply.begins());
  }

  /** Commands sent together, and what became of them once all are answered. */
  private final class Round {
    private final List<Commit> commits;
    private final Promise<Verdict> answered = Promise.promise();
    private int open = 1;
    private boolean isConflict;
    private @Nullable Throwable lost;
    private boolean isFailed;

    /** With the commits that are lost when the connection is. */
    Round(List<Commit> commits) {
      this.commits = commits;
    }

    void send(String command) {
      sent(connection.query(command).execute());
    }

    /** Goes before the first row: see {@link PostgresOrder}. */
    void announce() {
      sent(connection.preparedQuery(PostgresOrder.ANNOUNCE).execute());
    }

    /** Sends what the commits hold; what is alike and follows each other goes at once. */
    void send(List<Commit> some) {
      List<Step> steps = inOrder(some);
      int from = 0;
      for (int to = 1; to <= steps.size(); to++) {
        if (to == steps.size() || !steps.get(to).isAlike(steps.get(from))) {
          sendAlike(steps.subList(from, to));
          from = to;
        }
      }
    }

    private void sendAlike(List<Step> steps) {
      Bound first = steps.get(0).bound;
      int inRows = first.statement.appends() ? steps.size() - steps.size() % ROWS : 0;
      if (inRows > 0) {
        List<Tuple> values = new ArrayList<>();
        for (int i = 0; i < inRows; i += ROWS) {
          values.add(joined(steps.subList(i, i + ROWS)));
        }
        sendBatch(first.sql.repeated(ROWS), values, steps.subList(0, inRows));
      }
      if (inRows < steps.size()) {
        List<Step> rest = steps.subList(inRows, steps.size());
        sendBatch(first.sql, rest.stream().map(step -> step.bound.values).toList(), rest);
      }
    }

    /** Rows that are appended may be several for each of the values; nothing demands them. */
    private void sendBatch(PostgresSql sql, List<Tuple> values, List<Step> steps) {
      open++;
      connection
          .preparedQuery(sql.text())
          .executeBatch(values)
          .onComplete(
              (rows, failure) -> {
                if (failure != null) {
                  steps.forEach(step -> failed(failure, step.commit));
                } else if (values.size() == steps.size()) {
                  RowSet<Row> next = rows;
                  for (Step step : steps) {
                    check(next.rowCount(), step.commit, step.bound.statement);
                    next = next.next();
                  }
                }
                answered();
              });
    }

    /** What goes before COMMIT: who this is, what others are to know, and a call to look. */
    void sendLast(List<Commit> stored) {
      sent(
          connection
              .preparedQuery(TRANSACTION_ID)
              .execute()
              .onSuccess(rows -> transactionId = rows.iterator().next().getString(0)));
      PostgresChanges.Told told = changes.told(stored);
      if (told != null) {
        sent(connection.preparedQuery(PostgresChanges.TELL).execute(told.rows()));
        sent(connection.preparedQuery(PostgresNotices.NOTIFY).execute(told.notices()));
      }
    }

    private void sent(Future<RowSet<Row>> command) {
      open++;
      command.onComplete(
          (rows, failure) -> {
            if (failure != null) {
              failed(failure, null);
            }
            answered();
          });
    }

    private void check(int changed, Commit commit, Statement statement) {
      RuntimeException refusal = statement.refusalOf(changed);
      if (refusal != null && commit.failure == null) {
        isFailed = true;
        commit.failure = refusal;
      }
    }

    private void failed(Throwable failure, @Nullable Commit commit) {
      isFailed = true;
      PostgresFailure kind = PostgresFailure.of(failure, true);
      if (kind == PostgresFailure.CONNECTION) {
        lost = failure;
      } else if (kind == PostgresFailure.CONFLICT) {
        isConflict = true;
      }
      if (commit != null && commit.failure == null) {
        commit.failure = kind == PostgresFailure.STATEMENT ? failure : unavailable(failure);
      }
    }

    private void answered() {
      if (--open == 0) {
        if (lost != null) {
          fail(commits, lost);
        }
        answered.complete(
            lost != null
                ? Verdict.LOST
                : isConflict ? Verdict.CONFLICT : isFailed ? Verdict.FAILED : Verdict.GOOD);
      }
    }

    /** Nothing more is sent. */
    Future<Verdict> end() {
      answered();
      return answered.future();
    }
  }

  private static StoreUnavailable unavailable(@Nullable Throwable cause) {
    return PostgresFailure.unavailable("the store cannot be written", cause);
  }

  private static void fail(List<Commit> failing, Throwable cause) {
    failing.forEach(commit -> commit.failure = unavailable(cause));
  }

  /** Completes when nothing is under way any more. */
  Future<Void> run() {
    runTogether(commits, commits)
        .onSuccess(
            verdict -> {
              switch (verdict) {
                case GOOD -> {
                  Future<Void> stored = commit(commits);
                  owner.free(connection);
                  stored.onComplete(v -> end());
                }
                case FAILED -> {
                  rollback();
                  if (commits.size() == 1) {
                    finish();
                  } else {
                    runWithSavepoints();
                  }
                }
                case CONFLICT -> {
                  counted.rerun();
                  rollback();
                  runOneByOne(0, 1);
                }
                case LOST -> {
                  counted.failed();
                  finish();
                }
              }
            });
    return ended.future();
  }

  private Future<Verdict> runTogether(List<Commit> some, List<Commit> lostWithThem) {
    some.forEach(commit -> commit.failure = null);
    Round round = new Round(lostWithThem);
    round.send("BEGIN");
    round.announce();
    round.send(some);
    round.sendLast(some);
    return round.end();
  }

  private void rollback() {
    connection.query("ROLLBACK").execute();
  }

  /** Orders the commit, and settles what becomes of it unless that is unknown. */
  private Future<Void> commit(List<Commit> some) {
    String id = transactionId;
    return connection
        .query("COMMIT")
        .execute()
        .transform(
            (rows, failure) -> {
              if (failure == null) {
                some.forEach(commit -> commit.isStored = true);
                counted.stored(some.size(), System.nanoTime() - begunNanos);
              } else if (PostgresFailure.of(failure, true) == PostgresFailure.CONNECTION) {
                some.forEach(commit -> commit.isUnknown = true);
                owner.unknown(id, List.copyOf(some), failure);
              } else {
                counted.failed();
                fail(some, failure);
              }
              return Future.succeededFuture();
            });
  }

  private void runWithSavepoints() {
    counted.rerun();
    commits.forEach(commit -> commit.failure = null);
    Round first = new Round(commits);
    first.send("BEGIN");
    first.announce();
    runFrom(0, first);
  }

  private void runFrom(int index, Round round) {
    if (index == commits.size()) {
      List<Commit> good = commits.stream().filter(commit -> commit.failure == null).toList();
      round.sendLast(good);
      round
          .end()
          .onSuccess(
              verdict -> {
                switch (verdict) {
                  case GOOD -> commit(good).onComplete(v -> finish());
                  case FAILED, CONFLICT -> {
                    rollback();
                    finish();
                  }
                  case LOST -> finish();
                }
              });
      return;
    }
    Commit commit = commits.get(index);
    round.send("SAVEPOINT c");
    round.send(List.of(commit));
    round
        .end()
        .onSuccess(
            verdict -> {
              Round next = new Round(commits);
              switch (verdict) {
                case GOOD -> {
                  next.send("RELEASE c");
                  runFrom(index + 1, next);
                }
                case FAILED -> {
                  next.send("ROLLBACK TO c");
                  next.send("RELEASE c");
                  runFrom(index + 1, next);
                }
                case CONFLICT -> {
                  rollback();
                  runOneByOne(0, 1);
                }
                case LOST -> finish();
              }
            });
  }

  private void runOneByOne(int index, int attempt) {
    if (index == commits.size()) {
      finish();
      return;
    }
    List<Commit> one = commits.subList(index, index + 1);
    runTogether(one, commits.subList(index, commits.size()))
        .onSuccess(
            verdict -> {
              switch (verdict) {
                case GOOD -> commit(one).onComplete(v -> runOneByOne(index + 1, 1));
                case FAILED -> {
                  rollback();
                  runOneByOne(index + 1, 1);
                }
                case CONFLICT -> {
                  rollback();
                  counted.rerun();
                  if (attempt == CONFLICT_ATTEMPTS) {
                    runOneByOne(index + 1, 1);
                  } else {
                    context.setTimer(
                        1 + random.nextInt(CONFLICT_PAUSE_MILLIS),
                        v -> runOneByOne(index, attempt + 1));
                  }
                }
                case LOST -> finish();
              }
            });
  }

  private void finish() {
    end();
    owner.free(connection);
  }

  private void end() {
    deliver(commits.stream().filter(commit -> !commit.isUnknown).toList());
    ended.complete();
  }

  /** Tells callers what became of commits whose outcome was unknown. */
  static void resolve(List<Commit> unknown, boolean isStored, StoreUnavailable otherwise) {
    for (Commit commit : unknown) {
      commit.isStored = isStored;
      commit.failure = otherwise;
    }
    deliver(unknown);
  }

  private static void deliver(List<Commit> settled) {
    settled.forEach(Commit::settle);
    BatchedPromise.deliver(settled.stream().map(commit -> commit.reply).toList());
  }
}
