package dev.bourse.store.postgres;

import dev.bourse.store.RowMapper;
import dev.bourse.store.SchemaSession;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.pgclient.PgConnection;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Migrations over a session of their own, which no statement time-out cuts short: a step may
 * rewrite a large table. It holds the lock that has one process at a time change the schema.
 */
final class PostgresSchemaSession implements SchemaSession {
  private static final Logger log = LoggerFactory.getLogger(PostgresSchemaSession.class);

  /** How such a session is set up. */
  static final String SETTINGS =
      "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0";

  /** The lock's name: "bourse" in ASCII. It ends with the session, however that ends. */
  private static final String LOCK_ID = "(108231624422245)";

  /**
   * How long a step may wait for a table. Whoever wants to use the table waits behind it, so a
   * service that runs must not be held up for long by a step that cannot get on.
   */
  private static final String TABLE_WAIT = "SET lock_timeout = '30s'";

  private final PgConnection connection;

  PostgresSchemaSession(PgConnection connection) {
    this.connection = connection;
  }

  /** Takes the lock if it is free; false when another process has it. */
  Future<Boolean> tryLock() {
    return connection
        .query("SELECT pg_try_advisory_lock" + LOCK_ID)
        .execute()
        .map(rows -> rows.iterator().next().getBoolean(0));
  }

  /** Takes the lock, and waits for the process that has it, however long that migrates. */
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

  @Override
  public Future<Void> commit(List<Statement> statements) {
    Future<?> done =
        connection.query(TABLE_WAIT).execute().compose(v -> connection.query("BEGIN").execute());
    for (Statement statement : statements) {
      PostgresSql sql = PostgresSql.of(statement.sql());
      done =
          done.compose(
              v -> connection.preparedQuery(sql.text()).execute(sql.bind(statement.parameters())));
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
