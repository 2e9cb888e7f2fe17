package dev.bourse.store.postgres;

import dev.bourse.store.Migration;
import dev.bourse.store.Migrations;
import dev.bourse.store.StoreRefusedException;
import dev.bourse.store.StoreUnavailableException;
import dev.bourse.store.transfer.Catalogue;
import dev.bourse.store.transfer.StoredTable;
import dev.bourse.store.transfer.StoredTable.Column;
import dev.bourse.store.transfer.WholeStore;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgConnection;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Cursor;
import io.vertx.sqlclient.PreparedStatement;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A whole store on a PostgreSQL server, over one session. */
public final class PostgresWholeStore implements WholeStore {
  /** Rows per fetch: some hundred kilobytes, so that waiting for the server is rare. */
  private static final int PAGE_ROWS = 1_000;

  /** A server that does not answer for this long during work is considered lost. */
  private static final long ANSWER_MINUTES = 30;

  private static final long CLOSE_SECONDS = 5;

  /** The change feed is excluded: its transactions and snapshots have no meaning elsewhere. */
  private static final String COLUMNS =
      """
      SELECT t.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod),
        COALESCE(array_position(k.conkey::int[], a.attnum::int), 0)::bigint
      FROM pg_class t
      JOIN pg_attribute a ON a.attrelid = t.oid
      LEFT JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype = 'p'
      WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind IN ('r', 'p')
        AND t.relname NOT IN ('migration', 'commit_log')
        AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
      """;

  private static final String REFERENCES =
      """
      SELECT t.relname::text, r.relname::text FROM pg_constraint k
      JOIN pg_class t ON t.oid = k.conrelid
      JOIN pg_class r ON r.oid = k.confrelid
      WHERE k.contype = 'f' AND t.relnamespace = current_schema()::regnamespace
      """;

  /** Advances the sequences of generated ids past the inserted rows. */
  private static final String SEQUENCES =
      """
      SELECT a.attname::text, pg_get_serial_sequence(quote_ident(t.relname), a.attname)
      FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid
      WHERE t.oid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
        AND pg_get_serial_sequence(quote_ident(t.relname), a.attname) IS NOT NULL
      """;

  /** All reads in this transaction see the same moment. */
  private static final String SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

  private static final String OTHER_SESSIONS =
      """
      SELECT COUNT(*) FROM pg_stat_activity
      WHERE datname = current_database() AND (application_name = 'bourse' OR application_name LIKE 'bourse %')
        AND pid <> pg_backend_pid()
      """;

  private final PostgresConfig config;
  private final Migrations schema;
  private final Clock clock;
  private final Vertx vertx;
  private final PgConnection connection;
  private final PostgresSchemaSession session;
  private boolean inTransaction;
  private @Nullable Future<?> underWay;

  private PostgresWholeStore(
      PostgresConfig config, Migrations schema, Clock clock, Vertx vertx, PgConnection connection) {
    this.config = config;
    this.schema = schema;
    this.clock = clock;
    this.vertx = vertx;
    this.connection = connection;
    this.session = new PostgresSchemaSession(connection, vertx);
  }

  /**
   * Connects. Uses an event loop of its own until it is closed.
   *
   * @param migrations the class-path folder of the schema
   * @throws StoreRefusedException if the server rejects the log-in or is too old, or if other
   *     processes use the store
   * @throws StoreUnavailableException if it cannot be reached
   * @throws IOException if the schema cannot be read
   */
  public static PostgresWholeStore open(
      PostgresConfig config, String migrations, Clock clock, Purpose purpose) throws IOException {
    Migrations schema = Migrations.load(migrations);
    Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    PgConnection connection;
    try {
      connection =
          PostgresGuard.open(
                  ((VertxInternal) vertx).createEventLoopContext(), config, needs(config, purpose))
              .await();
    } catch (RuntimeException e) {
      vertx.close().await();
      throw e;
    }
    PostgresWholeStore store = new PostgresWholeStore(config, schema, clock, vertx, connection);
    try {
      store.prepare(purpose);
      return store;
    } catch (RuntimeException e) {
      store.close();
      throw e;
    }
  }

  private static PostgresLink.Needs needs(PostgresConfig config, Purpose purpose) {
    return switch (purpose) {
      case MIGRATE, FILL -> PostgresLink.Needs.WRITABLE;
      case LOOK, READ -> PostgresGuard.toRead(config);
    };
  }

  private void prepare(Purpose purpose) {
    switch (purpose) {
      case LOOK -> run("SET default_transaction_read_only = on");
      case READ -> {
        run(SNAPSHOT);
        inTransaction = true;
      }
      case MIGRATE -> await(session.lock());
      case FILL -> {
        // A process that starts from now on migrates first, and so waits until this session ends.
        if (!await(session.tryLock())) {
          throw new StoreRefusedException(
              "another process is migrating or importing into " + config.url(), null);
        }
        long others = run(OTHER_SESSIONS).iterator().next().getLong(0);
        if (others > 0) {
          throw new StoreRefusedException(
              others + " session(s) of a running bourse use " + config.url() + "; stop it first",
              null);
        }
      }
    }
  }

  private RowSet<Row> run(String sql) {
    return await(connection.query(sql).execute());
  }

  /** Waits for an answer; must not be called on an event loop. */
  private <T> T await(Future<T> answer) {
    try {
      return answer.await(ANSWER_MINUTES, TimeUnit.MINUTES);
    } catch (TimeoutException e) {
      throw new StoreUnavailableException(
          config.url() + " has not answered for " + ANSWER_MINUTES + " minutes", e);
    } catch (StoreRefusedException | StoreUnavailableException e) {
      throw e;
    } catch (Exception e) {
      // The client rethrows checked exceptions, for example of a socket, that its signature does
      // not declare.
      throw failed("", e);
    }
  }

  private RuntimeException failed(String what, Throwable e) {
    return switch (PostgresFailure.of(e, true)) {
      case STATEMENT ->
          new StoreRefusedException(what.isEmpty() ? shown(e) : what + ": " + shown(e), e);
      case CONNECTION ->
          new StoreUnavailableException("the connection to " + config.url() + " is lost", e);
      case CONFLICT, SERVER ->
          new StoreUnavailableException(
              config.url() + " cannot serve the request now: " + shown(e), e);
    };
  }

  private static String shown(Throwable e) {
    return e instanceof PgException answer
        ? answer.getErrorMessage() + (answer.getDetail() == null ? "" : "; " + answer.getDetail())
        : String.valueOf(e.getMessage());
  }

  @Override
  public String engine() {
    return "postgres";
  }

  @Override
  public String place() {
    return config.url().toString();
  }

  @Override
  public int programVersion() {
    return schema.version();
  }

  @Override
  public List<Migration> pending() {
    return await(schema.pending(session));
  }

  @Override
  public List<Migration> migrate() {
    return await(schema.apply(session, clock));
  }

  @Override
  public List<StoredTable> tables() {
    Catalogue catalogue = new Catalogue();
    for (Row row : run(COLUMNS)) {
      catalogue.addColumn(
          row.getString(0), row.getString(1), row.getString(2), row.getLong(3).intValue());
    }
    for (Row row : run(REFERENCES)) {
      catalogue.addReference(row.getString(0), row.getString(1));
    }
    return catalogue.tables();
  }

  @Override
  public long count(StoredTable table) {
    return run("SELECT COUNT(*) FROM " + table.quoted()).iterator().next().getLong(0);
  }

  /** A cursor needs a transaction; if there is none, the table gets its own. */
  @Override
  public <E extends Exception> void read(StoredTable table, RowSink<E> sink) throws E {
    boolean isOwn = !inTransaction;
    if (isOwn) {
      run(SNAPSHOT);
    }
    String sql =
        "SELECT %s FROM %s ORDER BY %s"
            .formatted(
                StoredTable.names(table.columns()),
                table.quoted(),
                table.key().stream()
                    .map(PostgresWholeStore::ordered)
                    .collect(Collectors.joining(", ")));
    PreparedStatement prepared = await(connection.prepare(sql));
    Cursor cursor = prepared.cursor();
    Future<RowSet<Row>> next = cursor.read(PAGE_ROWS);
    while (next != null) {
      RowSet<Row> page = await(next);
      next = cursor.hasMore() ? cursor.read(PAGE_ROWS) : null;
      for (Row row : page) {
        sink.row(values(row, table.columns().size()));
      }
    }
    await(cursor.close());
    await(prepared.close());
    if (isOwn) {
      run("COMMIT");
    }
  }

  /** Reads every row of every table, and so all their pages; the server's tools check indexes. */
  @Override
  public StoreExamination examine() {
    List<String> seen = new ArrayList<>();
    List<String> faults = new ArrayList<>();
    List<StoredTable> tables = tables();
    long[] rows = new long[1];
    for (StoredTable table : tables) {
      this.<RuntimeException>read(table, row -> rows[0]++);
    }
    seen.add("rows: %d in %d tables could be read".formatted(rows[0], tables.size()));
    boolean isSummed =
        run("SHOW data_checksums").iterator().next().getString(0).equalsIgnoreCase("on");
    seen.add(
        isSummed
            ? "checksums of pages: on, so the pages read are those the server wrote"
            : """
            checksums of pages: off, so a changed byte in a row is not detected; run pg_checksums \
            to turn them on\
            """);
    seen.add("indexes: not checked; run pg_amcheck on the server");
    return new StoreExamination(seen, faults);
  }

  private static List<@Nullable Object> values(Row row, int columns) {
    List<@Nullable Object> values = new ArrayList<>(columns);
    for (int i = 0; i < columns; i++) {
      Object value = row.getValue(i);
      if (value instanceof Integer number) {
        value = number.longValue();
      } else if (value instanceof Buffer buffer) {
        value = buffer.getBytes();
      }
      values.add(value);
    }
    return values;
  }

  /**
   * Orders text by bytes regardless of the column's collation, so that all engines have the same
   * order.
   */
  private static String ordered(Column column) {
    return column.quoted() + (column.kind() == StoredTable.Kind.TEXT ? " COLLATE \"C\"" : "");
  }

  @Override
  public void begin() {
    run("BEGIN");
    inTransaction = true;
  }

  /** Sends rows to the server while the caller prepares the next ones. */
  @Override
  public void insert(StoredTable table, long firstRow, List<List<@Nullable Object>> rows) {
    flush();
    List<String> arrays = new ArrayList<>();
    Tuple values = Tuple.tuple();
    for (int i = 0; i < table.columns().size(); i++) {
      StoredTable.Kind kind = table.columns().get(i).kind();
      arrays.add("$" + (i + 1) + "::" + type(kind) + "[]");
      values.addValue(column(kind, i, rows));
    }
    String sql =
        "INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT * FROM unnest(%s)"
            .formatted(
                table.quoted(), StoredTable.names(table.columns()), String.join(", ", arrays));
    String what =
        "one of the rows %s to %s of table %s was rejected"
            .formatted(firstRow, firstRow + rows.size() - 1, table.name());
    underWay =
        connection
            .preparedQuery(sql)
            .execute(values)
            .recover(e -> Future.failedFuture(failed(what, e)));
  }

  private static String type(StoredTable.Kind kind) {
    return switch (kind) {
      case TEXT -> "text";
      case INTEGER -> "bigint";
      case BYTES -> "bytea";
    };
  }

  /** Returns a column of the rows as an array of the client's type for it. */
  private static Object column(
      StoredTable.Kind kind, int index, List<List<@Nullable Object>> rows) {
    return switch (kind) {
      case TEXT -> rows.stream().map(row -> row.get(index)).toArray(String[]::new);
      case INTEGER -> rows.stream().map(row -> row.get(index)).toArray(Long[]::new);
      case BYTES ->
          rows.stream()
              .map(row -> row.get(index) instanceof byte[] bytes ? Buffer.buffer(bytes) : null)
              .toArray(Buffer[]::new);
    };
  }

  private void flush() {
    Future<?> before = underWay;
    underWay = null;
    if (before != null) {
      await(before);
    }
  }

  @Override
  public void commit() {
    flush();
    for (StoredTable table : tables()) {
      for (Row row : await(connection.preparedQuery(SEQUENCES).execute(Tuple.of(table.quoted())))) {
        String column = StoredTable.quoted(row.getString(0));
        await(
            connection
                .preparedQuery(
                    "SELECT setval($1::text::regclass, MAX(%s)) FROM %s HAVING MAX(%s) >= 1"
                        .formatted(column, table.quoted(), column))
                .execute(Tuple.of(row.getString(1))));
      }
    }
    run("COMMIT");
    inTransaction = false;
  }

  @Override
  public void close() {
    try {
      connection.close().await(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException | RuntimeException e) {
      PostgresLink.abandon(connection);
    } finally {
      vertx.close().await();
    }
  }
}
