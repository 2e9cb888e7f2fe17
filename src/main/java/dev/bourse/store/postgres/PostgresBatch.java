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
 * <p>All statements are sent at once between BEGIN and COMMIT, those of one text that follow each
 * other together, and rows of logs several in a statement. COMMIT waits for their answers, for only
 * those tell whether the guards held. When one did not, the group is rolled back and run again with
 * a savepoint for each commit, so that each fails alone. When another transaction was in the way,
 * the commits run again one by one, each in a transaction of its own: it locks its few rows in the
 * order every commit does, while two groups may lock theirs crosswise.
 */
final class PostgresBatch {
  private static final int CONFLICT_ATTEMPTS = 4;

  /** How long a commit waits, at most, before it tries again against the same rival. */
  private static final int CONFLICT_PAUSE_MILLIS = 40;

  private static final String TRANSACTION_ID = "SELECT CAST(pg_current_xact_id() AS text)";

  /**
   * A statement in the engine's terms.
   *
   * @param log what it appends to, if it does
   */
  record Bound(Statement statement, PostgresSql sql, PostgresSql.@Nullable Log log, Tuple values) {
    /** See {@link PostgresSql#bind} and {@link PostgresSql#log} for its exceptions. */
    static Bound of(Statement statement) {
      PostgresSql sql = PostgresSql.of(statement.sql());
      return new Bound(
          statement, sql, statement.appends() ? sql.log() : null, sql.bind(statement.parameters()));
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
    /**
     * Whether it may be sent together with the one before it. Of one commit's statements that make
     * demands each is sent for itself, for when one fails nothing is known of those before it.
     */
    boolean joins(Step before) {
      return bound.sql.equals(before.bound.sql) && (bound.log != null || commit != before.commit);
    }
  }

  /**
   * All statements as the commits have them, but rows of logs as late as can be: before the next
   * statement that names the log's table, or at the end.
   */
  private static List<Step> inOrder(List<Commit> some) {
    List<Step> steps = new ArrayList<>();
    Map<String, List<Step>> appended = new LinkedHashMap<>();
    for (Commit commit : some) {
      for (Bound bound : commit.statements) {
        Step step = new Step(commit, bound);
        if (bound.log != null) {
          appended.computeIfAbsent(bound.log.table(), table -> new ArrayList<>()).add(step);
        } else {
          appended.forEach(
              (table, rows) -> {
                if (bound.sql.text().contains(table)) {
                  steps.addAll(rows);
                  rows.clear();
                }
              });
          steps.add(step);
        }
      }
    }
    appended.values().forEach(steps::addAll);
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
      sent(connection.query(command).execute(), List.of());
    }

    /** Goes before the first row: see {@link PostgresOrder}. */
    void announce() {
      sent(connection.preparedQuery(PostgresOrder.ANNOUNCE).execute(), List.of());
    }

    /** Sends what the commits hold; what is alike and follows each other goes at once. */
    void send(List<Commit> some) {
      List<Step> steps = inOrder(some);
      int from = 0;
      for (int to = 1; to <= steps.size(); to++) {
        if (to == steps.size() || !steps.get(to).joins(steps.get(to - 1))) {
          sendAlike(steps.subList(from, to));
          from = to;
        }
      }
    }

    private void sendAlike(List<Step> steps) {
      PostgresSql.Log log = steps.get(0).bound.log;
      int inRows = log == null ? 0 : steps.size() - steps.size() % PostgresSql.Log.ROWS;
      if (log != null && inRows > 0) {
        sendRows(log, steps.subList(0, inRows));
      }
      if (inRows < steps.size()) {
        sendEach(steps.subList(inRows, steps.size()));
      }
    }

    private void sendRows(PostgresSql.Log log, List<Step> steps) {
      List<Tuple> values = new ArrayList<>();
      for (int i = 0; i < steps.size(); i += PostgresSql.Log.ROWS) {
        values.add(joined(steps.subList(i, i + PostgresSql.Log.ROWS)));
      }
      sent(connection.preparedQuery(log.insertRows().text()).executeBatch(values), steps);
    }

    private void sendEach(List<Step> steps) {
      List<Tuple> values = steps.stream().map(step -> step.bound.values).toList();
      sent(
          connection
              .preparedQuery(steps.get(0).bound.sql.text())
              .executeBatch(values)
              .onSuccess(
                  rows -> {
                    RowSet<Row> next = rows;
                    for (Step step : steps) {
                      check(next.rowCount(), step.commit, step.bound.statement);
                      next = next.next();
                    }
                  }),
          steps);
    }

    /** What goes before COMMIT: who this is, what others are to know, and a call to look. */
    void sendLast(List<Commit> stored) {
      sent(
          connection
              .preparedQuery(TRANSACTION_ID)
              .execute()
              .onSuccess(rows -> transactionId = rows.iterator().next().getString(0)),
          List.of());
      PostgresChanges.Told told = changes.told(stored);
      if (told != null) {
        sent(connection.preparedQuery(PostgresChanges.TELL).execute(told.rows()), List.of());
        sent(connection.preparedQuery(PostgresNotices.NOTIFY).execute(told.notices()), List.of());
      }
    }

    /** With the statements it runs, none of which is known to have run when it fails. */
    private void sent(Future<RowSet<Row>> command, List<Step> steps) {
      open++;
      command.onComplete(
          (rows, failure) -> {
            if (failure != null) {
              failed(failure);
              steps.forEach(step -> blame(step.commit, failure));
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

    private void failed(Throwable failure) {
      isFailed = true;
      PostgresFailure kind = PostgresFailure.of(failure, true);
      if (kind == PostgresFailure.CONNECTION) {
        lost = failure;
      } else if (kind == PostgresFailure.CONFLICT) {
        isConflict = true;
      }
    }

    /** Where others may be to blame, all are run again, each for itself. */
    private static void blame(Commit commit, Throwable failure) {
      if (commit.failure == null) {
        boolean isItsOwn = PostgresFailure.of(failure, true) == PostgresFailure.STATEMENT;
        commit.failure = isItsOwn ? failure : unavailable(failure);
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
