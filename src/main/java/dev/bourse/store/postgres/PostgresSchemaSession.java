package dev.bourse.store.postgres;

import dev.bourse.store.Dialect;
import dev.bourse.store.RowMapper;
import dev.bourse.store.SchemaSession;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs migrations in a session of its own without statement time-outs, because a migration may
 * rewrite a large table. It holds the lock that lets only one process at a time change the schema.
 */
final class PostgresSchemaSession implements SchemaSession {
  private static final Logger log = LoggerFactory.getLogger(PostgresSchemaSession.class);

  /** Settings of such a session. */
  static final String SETTINGS =
      "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0";

  /** The lock's name, "bourse" in ASCII. The server releases it when the session ends. */
  private static final String LOCK_ID = "(108231624422245)";

  /**
   * How long one attempt of a migration may wait for tables. Queries that need a table queue up
   * behind a waiting migration, so this bounds the pause of a running service.
   */
  private static final long WAIT_MILLIS = 200;

  /**
   * The minimum wait of a statement after earlier ones of its migration have used up the time; a
   * row that is being updated is free again by then.
   */
  private static final long LEAST_WAIT_MILLIS = 10;

  /** The pause between two attempts, in which the queued queries are answered. */
  private static final long PAUSE_MILLIS = 2_000;

  /**
   * How long a migration is retried: dumps of large tables take minutes, forgotten sessions last
   * hours.
   */
  private static final long PATIENCE_MILLIS = 600_000;

  private final PgConnection connection;
  private final Vertx vertx;
  private final long pauseMillis;
  private final long patienceMillis;

  PostgresSchemaSession(PgConnection connection, Vertx vertx) {
    this(connection, vertx, PAUSE_MILLIS, PATIENCE_MILLIS);
  }

  /**
   * @param pauseMillis the pause between two attempts of a migration whose tables are in use
   * @param patienceMillis after which such a migration fails
   */
  PostgresSchemaSession(
      PgConnection connection, Vertx vertx, long pauseMillis, long patienceMillis) {
    this.connection = connection;
    this.vertx = vertx;
    this.pauseMillis = pauseMillis;
    this.patienceMillis = patienceMillis;
  }

  /** Acquires the lock if it is free; returns false if another process holds it. */
  Future<Boolean> tryLock() {
    return connection
        .query("SELECT pg_try_advisory_lock" + LOCK_ID)
        .execute()
        .map(rows -> rows.iterator().next().getBoolean(0));
  }

  /**
   * Acquires the lock, and waits for the process that holds it, however long its migration takes.
   */
  Future<Void> lock() {
    return tryLock()
        .compose(
            taken -> {
              if (taken) {
                return Future.succeededFuture();
              }
              log.info("another process migrates or imports into the database; waiting for it");
              return connection.query("SELECT pg_advisory_lock" + LOCK_ID).execute().mapEmpty();
            });
  }

  @Override
  public Dialect dialect() {
    return Dialect.POSTGRES;
  }

  @Override
  public Future<Boolean> hasMigrationTable() {
    return connection
        .query("SELECT to_regclass('migration') IS NOT NULL")
        .execute()
        .map(rows -> rows.iterator().next().getBoolean(0));
  }

  @Override
  public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
    PostgresSql query = PostgresSql.of(sql);
    return connection
        .preparedQuery(query.text())
        .execute(query.bind(parameters))
        .map(
            rows -> {
              List<T> mapped = new ArrayList<>(rows.size());
              rows.forEach(row -> mapped.add(mapper.map(new PostgresRow(row))));
              return mapped;
            });
  }

  /**
   * Executes all statements in one transaction, or none. While a table is in use, for example by a
   * dump, the transaction is rolled back and retried after a pause.
   */
  @Override
  public Future<Void> commit(List<Statement> statements) {
    return commit(statements, System.nanoTime(), false);
  }

  private Future<Void> commit(List<Statement> statements, long sinceNanos, boolean isLogged) {
    return tryCommit(statements)
        .recover(
            failure -> {
              if (PostgresFailure.of(failure, true) != PostgresFailure.CONFLICT) {
                return Future.failedFuture(failure);
              }
              long waited = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sinceNanos);
              if (waited >= patienceMillis) {
                return Future.failedFuture(
                    new StoreUnavailableException(
                        "a table of the migration was in use for "
                            + waited / 1_000
                            + " s; end the session that uses it, for example a dump, and try again",
                        failure));
              }
              if (!isLogged) {
                log.info(
                    "the migration waits for a table that another session uses, up to {} s: {}",
                    patienceMillis / 1_000,
                    failure.getMessage());
              }
              return vertx
                  .timer(pauseMillis, TimeUnit.MILLISECONDS)
                  .compose(paused -> commit(statements, sinceNanos, true));
            });
  }

  private Future<Void> tryCommit(List<Statement> statements) {
    Future<?> done = connection.query("BEGIN").execute();
    long begun = System.nanoTime();
    for (Statement statement : statements) {
      PostgresSql sql = PostgresSql.of(statement.sql());
      done =
          done.compose(
              v -> {
                long used = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
                long wait = Math.max(LEAST_WAIT_MILLIS, WAIT_MILLIS - used);
                // Sent ahead of the statement, without a round trip of its own.
                Future<?> limited = connection.query("SET LOCAL lock_timeout = " + wait).execute();
                Future<?> carriedOut =
                    connection.preparedQuery(sql.text()).execute(sql.bind(statement.parameters()));
                return limited.compose(set -> carriedOut);
              });
    }
    return done.compose(v -> connection.query("COMMIT").execute())
        .<Void>mapEmpty()
        .recover(
            failure ->
                connection
                    .query("ROLLBACK")
                    .execute()
                    .transform(undone -> Future.failedFuture(failure)));
  }
}
