package dev.bourse.store.sqlite;

import dev.bourse.core.PrivateFile;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.sqlite.JDBC;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConnection;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteOpenMode;

/**
 * One connection to the database file and its prepared statements. Used by one thread at a time.
 */
final class SqliteConnection implements AutoCloseable {
  /** More than the product's number of statements; those of migrations and tools are evicted. */
  private static final int PREPARED_STATEMENTS = 256;

  /** Other processes only inspect the file for moments, so a longer wait means a fault. */
  private static final int BUSY_TIMEOUT_MILLIS = 2_000;

  /**
   * Holds the pages that a group of commits changes. Many groups rebalance an index with an insert,
   * and then SQLite visits every cached page at the end of the transaction. With a cache of 64 MiB
   * that costs more time than the page reads it saves.
   */
  private static final int WRITER_CACHE_KIB = 8 * 1024;

  private static final int READER_CACHE_KIB = 16 * 1024;

  /** Copying a log bypasses the cache. */
  private static final int CHECKPOINT_CACHE_KIB = 64;

  /**
   * 32 MiB of log, at which it should restart: each page that changed often is copied back once.
   */
  static final int LOG_PAGES = 8_192;

  /** The length at which commits wait if the log is not copied in time. */
  static final int LONGEST_LOG_PAGES = 4 * LOG_PAGES;

  private record Prepared(PreparedStatement statement, int parameters) {}

  private final SQLiteConnection jdbc;
  private final LinkedHashMap<String, Prepared> prepared = new LinkedHashMap<>(64, 0.75f, true);

  private SqliteConnection(SQLiteConnection jdbc) {
    this.jdbc = jdbc;
    // Keeps the driver from adding BEGIN and COMMIT around every statement, because this class
    // controls transactions. (Connection.setAutoCommit would open one at once and hold it while
    // idle.)
    jdbc.getConnectionConfig().setAutoCommit(false);
  }

  /**
   * Opens the connection that writes, and creates a missing file. The file is created private
   * before the engine opens it, because the engine gives its log and shared memory the permissions
   * of the file.
   */
  static SqliteConnection forWriting(Path file, long maxFileBytes) throws SQLException {
    try {
      PrivateFile.create(file);
    } catch (IOException e) {
      throw new SQLException("cannot create the store " + file + ": " + e.getMessage(), e);
    }
    SQLiteConfig config = config(WRITER_CACHE_KIB);
    config.setPageSize(SqliteConfig.PAGE_BYTES);
    config.setJournalMode(SQLiteConfig.JournalMode.WAL);
    config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
    config.enforceForeignKeys(true);
    SqliteConnection connection = open(file, config);
    try {
      connection.execute("PRAGMA wal_autocheckpoint = " + LONGEST_LOG_PAGES);
      connection.execute("PRAGMA journal_size_limit = " + 2L * LOG_PAGES * SqliteConfig.PAGE_BYTES);
      connection.execute("PRAGMA max_page_count = " + maxFileBytes / SqliteConfig.PAGE_BYTES);
      return connection;
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  /** Opens a connection to an existing store that only copies its log. */
  static SqliteConnection forCheckpoints(Path file) throws SQLException {
    SQLiteConfig config = config(CHECKPOINT_CACHE_KIB);
    config.resetOpenMode(SQLiteOpenMode.CREATE);
    config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
    return open(file, config);
  }

  /** Opens a connection that can only read an existing file. */
  static SqliteConnection forReading(Path file) throws SQLException {
    SQLiteConfig config = config(READER_CACHE_KIB);
    config.setReadOnly(true);
    return open(file, config);
  }

  /** Opens an in-memory, empty store, which stands for a store that has not been created. */
  static SqliteConnection forNothing() throws SQLException {
    return new SqliteConnection(
        JDBC.createConnection(JDBC.PREFIX + ":memory:", config(READER_CACHE_KIB).toProperties()));
  }

  private static SQLiteConfig config(int cacheKib) {
    SQLiteConfig config = new SQLiteConfig();
    config.setBusyTimeout(BUSY_TIMEOUT_MILLIS);
    config.setCacheSize(-cacheKib);
    config.setTempStore(SQLiteConfig.TempStore.MEMORY);
    config.setGetGeneratedKeys(false);
    return config;
  }

  private static SqliteConnection open(Path file, SQLiteConfig config) throws SQLException {
    SqliteDriver.load(file.toAbsolutePath().getParent());
    return new SqliteConnection(
        JDBC.createConnection(JDBC.PREFIX + file.toAbsolutePath(), config.toProperties()));
  }

  /** Runs SQL without parameters or results that need not be prepared: BEGIN, COMMIT, PRAGMA. */
  void execute(String sql) throws SQLException {
    try (java.sql.Statement statement = jdbc.createStatement()) {
      statement.executeUpdate(sql);
    }
  }

  /**
   * Copies as much of the log as is not in use, without blocking anyone, and returns the pages in
   * it, including those that were not copied.
   */
  int checkpoint() throws SQLException {
    try (java.sql.Statement statement = jdbc.createStatement();
        ResultSet result = statement.executeQuery("PRAGMA wal_checkpoint(PASSIVE)")) {
      return result.next() ? result.getInt("log") : 0;
    }
  }

  /** Rolls back; does nothing if the engine has already done so. */
  void rollback() throws SQLException {
    try {
      execute("ROLLBACK");
    } catch (SQLException e) {
      if (!String.valueOf(e.getMessage()).contains("no transaction is active")) {
        throw e;
      }
    }
  }

  /** Runs one write and returns how many rows it changed. */
  long execute(Statement statement) throws SQLException {
    try {
      return prepare(statement.sql(), statement.parameters()).executeLargeUpdate();
    } catch (SQLException e) {
      forget(statement.sql());
      throw e;
    }
  }

  <T> List<T> query(String sql, List<? extends @Nullable Object> parameters, RowMapper<T> mapper)
      throws SQLException {
    try (ResultSet result = prepare(sql, parameters).executeQuery()) {
      List<T> rows = new ArrayList<>();
      SqliteRow row = new SqliteRow(result);
      while (result.next()) {
        rows.add(mapper.map(row));
      }
      return rows;
    } catch (SQLException e) {
      forget(sql);
      throw e;
    }
  }

  /** The rows of a query, read one by one. Close it before the connection. */
  static final class Rows implements AutoCloseable {
    private final PreparedStatement statement;
    private final ResultSet result;
    private final SqliteRow row;

    private Rows(PreparedStatement statement, ResultSet result) {
      this.statement = statement;
      this.result = result;
      this.row = new SqliteRow(result);
    }

    /** Advances to the next row; returns false if there is none. */
    boolean next() throws SQLException {
      return result.next();
    }

    /** Returns the current row. */
    SqliteRow row() {
      return row;
    }

    @Override
    public void close() {
      try (statement) {
        result.close();
      } catch (SQLException e) {
        throw new StoreUnavailableException("closing a query failed", e);
      }
    }
  }

  /** Runs a query with too many rows to hold at once. */
  Rows rows(String sql) throws SQLException {
    PreparedStatement statement = jdbc.prepareStatement(sql);
    try {
      return new Rows(statement, statement.executeQuery());
    } catch (SQLException e) {
      statement.close();
      throw e;
    }
  }

  private PreparedStatement prepare(String sql, List<? extends @Nullable Object> parameters)
      throws SQLException {
    Prepared found = prepared.get(sql);
    if (found == null) {
      PreparedStatement statement = jdbc.prepareStatement(sql);
      found = new Prepared(statement, statement.getParameterMetaData().getParameterCount());
      prepared.put(sql, found);
      if (prepared.size() > PREPARED_STATEMENTS) {
        forget(prepared.keySet().iterator().next());
      }
    }
    // The driver keeps the values of the last execution, so a missing one would go undetected.
    if (parameters.size() != found.parameters) {
      throw new IllegalArgumentException(
          parameters.size() + " values for " + found.parameters + " placeholders: " + sql);
    }
    for (int i = 0; i < found.parameters; i++) {
      bind(found.statement, i + 1, parameters.get(i));
    }
    return found.statement;
  }

  private static void bind(PreparedStatement statement, int position, @Nullable Object value)
      throws SQLException {
    if (value instanceof Boolean truth) {
      statement.setInt(position, truth ? 1 : 0);
    } else if (value == null
        || value instanceof String
        || value instanceof Long
        || value instanceof Integer
        || value instanceof byte[]) {
      statement.setObject(position, value);
    } else {
      throw new IllegalArgumentException("a column cannot hold a " + value.getClass().getName());
    }
  }

  /** Drops a prepared statement that was evicted or that failed; the driver may have closed it. */
  private void forget(String sql) throws SQLException {
    Prepared dropped = prepared.remove(sql);
    if (dropped != null) {
      dropped.statement.close();
    }
  }

  /** Returns whether the disk is full or the file has reached its limit. */
  static boolean isFull(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if ((cause instanceof SQLException engine
              && (engine.getErrorCode() & 0xff) == SQLiteErrorCode.SQLITE_FULL.code)
          || String.valueOf(cause.getMessage()).contains("No space left on device")) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether an error is a fault of the machine or the file and not of the statement. */
  static boolean isEnvironmental(SQLException e) {
    return switch (e.getErrorCode() & 0xff) {
      case 5, // BUSY
          6, // LOCKED
          7, // NOMEM
          8, // READONLY
          9, // INTERRUPT
          10, // IOERR
          11, // CORRUPT
          13, // FULL
          14, // CANTOPEN
          15, // PROTOCOL
          26 -> // NOTADB
          true;
      default -> false;
    };
  }

  /** Rolls back an open transaction and closes. */
  @Override
  public void close() throws SQLException {
    for (Map.Entry<String, Prepared> entry : prepared.entrySet()) {
      entry.getValue().statement.close();
    }
    prepared.clear();
    jdbc.close();
  }
}
