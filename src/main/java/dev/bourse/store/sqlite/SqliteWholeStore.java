package dev.bourse.store.sqlite;

import dev.bourse.store.Migration;
import dev.bourse.store.Migrations;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreRefusedException;
import dev.bourse.store.StoreUnavailableException;
import dev.bourse.store.transfer.Catalogue;
import dev.bourse.store.transfer.StoredTable;
import dev.bourse.store.transfer.StoredTable.Column;
import dev.bourse.store.transfer.WholeStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

public final class SqliteWholeStore implements WholeStore {
  /** SQLite's code for corrupt pages. */
  private static final int CORRUPT = 11;

  private final Path file;
  private final Migrations schema;
  private final Clock clock;
  private final @Nullable StoreLock lock;
  private final SqliteConnection connection;

  private SqliteWholeStore(
      Path file,
      Migrations schema,
      Clock clock,
      @Nullable StoreLock lock,
      SqliteConnection connection) {
    this.file = file;
    this.schema = schema;
    this.clock = clock;
    this.lock = lock;
    this.connection = connection;
  }

  /**
   * Opens the store.
   *
   * @param migrations the class-path folder of the schema
   * @throws StoreRefusedException if it is in use, or missing although it has to exist
   * @throws IOException if the lock file or the schema cannot be read
   */
  public static SqliteWholeStore open(
      Path file, SqliteConfig config, String migrations, Clock clock, Purpose purpose)
      throws IOException {
    Migrations schema = Migrations.load(migrations);
    boolean exists = Files.exists(file);
    if (!exists && purpose == Purpose.READ) {
      throw new StoreRefusedException("no store at " + file, null);
    }
    StoreLock lock = purpose == Purpose.LOOK ? null : StoreLock.take(file);
    try {
      if (lock != null) {
        new WalGuard(file).check(config.acceptedDamage());
      }
      SqliteConnection connection =
          switch (purpose) {
            case LOOK -> exists ? SqliteConnection.forReading(file) : SqliteConnection.forNothing();
            case READ -> SqliteConnection.forReading(file);
            case MIGRATE, FILL -> SqliteConnection.forWriting(file, config.maxFileBytes());
          };
      SqliteWholeStore store = new SqliteWholeStore(file, schema, clock, lock, connection);
      if (purpose == Purpose.READ) {
        store.run(() -> connection.execute("BEGIN"));
      }
      return store;
    } catch (SQLException | RuntimeException | IOException e) {
      if (lock != null) {
        lock.close();
      }
      if (e instanceof IOException unreadable) {
        throw unreadable;
      }
      throw e instanceof RuntimeException refused ? refused : failed(file, e);
    }
  }

  /** An action on the connection. */
  private interface Work<T> {
    T run() throws Exception;
  }

  /** An action without a result. */
  private interface Step {
    void run() throws Exception;
  }

  private <T> T get(Work<T> work) {
    try {
      return work.run();
    } catch (Exception e) {
      throw e instanceof StoreRefusedException refused ? refused : failed(file, e);
    }
  }

  private void run(Step step) {
    get(
        () -> {
          step.run();
          return true;
        });
  }

  private static RuntimeException failed(Path file, Exception e) {
    String message = "cannot use the store " + file + ": " + e.getMessage();
    return e instanceof SQLException sql && SqliteConnection.isEnvironmental(sql)
        ? new StoreUnavailableException(message, e)
        : new StoreRefusedException(message, e);
  }

  @Override
  public String engine() {
    return "sqlite";
  }

  @Override
  public String place() {
    return file.toString();
  }

  @Override
  public int programVersion() {
    return schema.version();
  }

  @Override
  public List<Migration> pending() {
    return get(
        () -> SqliteSchemaSession.settled(schema.pending(new SqliteSchemaSession(connection))));
  }

  @Override
  public List<Migration> migrate() {
    return get(
        () ->
            SqliteSchemaSession.settled(schema.apply(new SqliteSchemaSession(connection), clock)));
  }

  @Override
  public List<StoredTable> tables() {
    Catalogue catalogue = new Catalogue();
    run(
        () -> {
          connection.query(
              """
              SELECT t.name, c.name AS col, c.type, c.pk FROM sqlite_schema t
              JOIN pragma_table_info(t.name) c
              WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'\
              """,
              List.of(),
              row -> {
                catalogue.addColumn(
                    row.text("name"), row.text("col"), row.text("type"), row.smallInteger("pk"));
                return true;
              });
          connection.query(
              """
              SELECT t.name, f."table" AS referred FROM sqlite_schema t
              JOIN pragma_foreign_key_list(t.name) f WHERE t.type = 'table'\
              """,
              List.of(),
              row -> {
                catalogue.addReference(row.text("name"), row.text("referred"));
                return true;
              });
        });
    return catalogue.tables();
  }

  @Override
  public long count(StoredTable table) {
    return get(() -> integer("SELECT COUNT(*) AS counted FROM " + table.quoted(), "counted"));
  }

  @Override
  public <E extends Exception> void read(StoredTable table, RowSink<E> sink) throws E {
    String sql =
        "SELECT %s FROM %s ORDER BY %s"
            .formatted(
                StoredTable.names(table.columns()), table.quoted(), StoredTable.names(table.key()));
    long number = 0;
    try (SqliteConnection.Rows rows = get(() -> connection.rows(sql))) {
      while (get(rows::next)) {
        number++;
        long position = number;
        sink.row(get(() -> values(table, position, rows.row())));
      }
    }
  }

  /** Checks each value, because this engine accepts any value in any column. */
  private static List<@Nullable Object> values(StoredTable table, long number, SqliteRow row)
      throws SQLException {
    List<@Nullable Object> values = new ArrayList<>(table.columns().size());
    for (int i = 0; i < table.columns().size(); i++) {
      Column column = table.columns().get(i);
      Object value = row.value(i);
      if (value != null && !column.kind().accepts(value)) {
        throw StoreRefusedException.of(
            "row %d of table %s holds %s in column %s, which is for %s",
            number,
            table.name(),
            value.getClass().getSimpleName(),
            column.name(),
            column.kind().name().toLowerCase(Locale.ROOT));
      }
      values.add(value);
    }
    return values;
  }

  /** Runs SQLite's own check, which reads every page of every table and index and compares them. */
  @Override
  public StoreExamination examine() {
    List<String> seen = new ArrayList<>();
    List<String> faults = new ArrayList<>();
    run(
        () -> {
          WalScan log = new WalGuard(file).scan();
          seen.add(
              log == null
                  ? "log: nothing in it, the store was closed in order"
                  : "log: %d transactions in %d frames are sound%s"
                      .formatted(
                          log.commits(),
                          log.frames(),
                          log.isTailTorn() ? "; the last one is incomplete and not counted" : ""));
        });
    run(() -> examinePages(seen, faults));
    return new StoreExamination(seen, faults);
  }

  private void examinePages(List<String> seen, List<String> faults) throws SQLException {
    try {
      List<String> pages = texts("PRAGMA integrity_check", "integrity_check");
      if (!pages.equals(List.of("ok"))) {
        pages.forEach(fault -> faults.add("pages: " + fault));
        return;
      }
      seen.add(
          "pages: %d of %d bytes are sound"
              .formatted(integer("PRAGMA page_count", "page_count"), SqliteConfig.PAGE_BYTES));
      List<String> references = texts("PRAGMA foreign_key_check", "table");
      if (references.isEmpty()) {
        seen.add("references between tables: all lead to rows");
      } else {
        faults.add(
            "references between tables: %d lead to missing rows".formatted(references.size()));
      }
    } catch (SQLException e) {
      if ((e.getErrorCode() & 0xff) != CORRUPT) {
        throw e;
      }
      faults.add("pages: some cannot be read: " + e.getMessage());
    }
  }

  private List<String> texts(String sql, String column) throws SQLException {
    return connection.query(sql, List.of(), row -> row.text(column));
  }

  private long integer(String sql, String column) throws SQLException {
    return connection.query(sql, List.of(), row -> row.integer(column)).get(0);
  }

  @Override
  public void begin() {
    run(
        () -> {
          connection.execute("BEGIN IMMEDIATE");
          // A row may refer to a later row of its own table.
          connection.execute("PRAGMA defer_foreign_keys = ON");
        });
  }

  @Override
  public void insert(StoredTable table, long firstRow, List<List<@Nullable Object>> rows) {
    String sql =
        "INSERT INTO %s (%s) VALUES (%s)"
            .formatted(
                table.quoted(),
                StoredTable.names(table.columns()),
                String.join(", ", Collections.nCopies(table.columns().size(), "?")));
    for (int i = 0; i < rows.size(); i++) {
      Statement statement = new Statement(sql, rows.get(i), null, 0);
      try {
        connection.execute(statement);
      } catch (SQLException e) {
        if (SqliteConnection.isEnvironmental(e)) {
          throw failed(file, e);
        }
        throw new StoreRefusedException(
            "row %s of table %s was rejected: %s"
                .formatted(firstRow + i, table.name(), e.getMessage()),
            e);
      }
    }
  }

  @Override
  public void commit() {
    run(() -> connection.execute("COMMIT"));
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      throw failed(file, e);
    } finally {
      if (lock != null) {
        release(lock);
      }
    }
  }

  private void release(StoreLock held) {
    try {
      held.close();
    } catch (IOException e) {
      throw new StoreUnavailableException("cannot release the lock of the store " + file, e);
    }
  }
}
