package dev.bourse.store.sqlite;

import dev.bourse.core.PrivateFile;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailable;
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

/** One connection to the database file and its prepared statements. One thread at a time. */
final class SqliteConnection implements AutoCloseable {
  /** More than the product has statements; those of migrations and odd tools fall out. */
  private static final int PREPARED_STATEMENTS = 256;

  /** Other processes only look at the file, for moments, so this long means something is wrong. */
  private static final int BUSY_TIMEOUT_MILLIS = 2_000;

  /**
   * Holds the pages that a group of commits changes. In many groups an insert rebalances an index,
   * and then SQLite visits every cached page when the transaction ends. With a cache of 64 MiB that
   * costs a commit more time than all the page reads that the cache saves.
   */
  private static final int WRITER_CACHE_KIB = 8 * 1024;

  private static final int READER_CACHE_KIB = 16 * 1024;

  /** A log is copied past the cache. */
  private static final int CHECKPOINT_CACHE_KIB = 64;

  /** 32 MiB of log, and it is to begin anew: each page that changed often is copied back once. */
  static final int LOG_PAGES = 8_192;

  /** Where the log is not copied in time, commits wait for it here; four times as much. */
  static final int LONGEST_LOG_PAGES = 4 * LOG_PAGES;

  private record Prepared(PreparedStatement statement, int parameters) {}

  private final SQLiteConnection jdbc;
  private final LinkedHashMap<String, Prepared> prepared = new LinkedHashMap<>(64, 0.75f, true);

  private SqliteConnection(SQLiteConnection jdbc) {
    this.jdbc = jdbc;
    // Keeps the driver from trying BEGIN and COMMIT around every statement; the transactions are
    // ours. (Connection.setAutoCommit would open one at once and hold it while idle.)
    jdbc.getConnectionConfig().setAutoCommit(false);
  }

  /**
   * The connection that writes; creates the file when there is none. The engine gives its log and
   * its shared memory the permissions the file has, so that is there, and private, before.
   */
  static SqliteConnection forWriting(Path file, long maxFileBytes) throws SQLException {
    try {
      PrivateFile.create(file);
    } catch (IOException e) {
      throw new SQLException("the store " + file + " cannot be created: " + e.getMessage(), e);
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

  /** A connection to a store that exists, which only copies its log. */
  static SqliteConnection forCheckpoints(Path file) throws SQLException {
    SQLiteConfig config = config(CHECKPOINT_CACHE_KIB);
    config.resetOpenMode(SQLiteOpenMode.CREATE);
    config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
    return open(file, config);
  }

  /** A connection that cannot write to a file that exists. */
  static SqliteConnection forReading(Path file) throws SQLException {
    SQLiteConfig config = config(READER_CACHE_KIB);
    config.setReadOnly(true);
    return open(file, config);
  }

  /** A connection to an empty store that is nowhere: what a store is before it is created. */
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

  /** Runs SQL without parameters or results that is not worth preparing: BEGIN, COMMIT, PRAGMA. */
  void execute(String sql) throws SQLException {
    try (java.sql.Statement statement = jdbc.createStatement()) {
      statement.executeUpdate(sql);
    }
  }

  /**
   * Copies as much of the log as nobody reads or copies, without holding up anyone, and gives the
   * pages in it, copied or not.
   */
  int checkpoint() throws SQLException {
    try (java.sql.Statement statement = jdbc.createStatement();
        ResultSet result = statement.executeQuery("PRAGMA wal_checkpoint(PASSIVE)")) {
      return result.next() ? result.getInt("log") : 0;
    }
  }

  /** Ends the transaction without a trace; all right when the engine has already done so. */
  void rollback() throws SQLException {
    try {
      execute("ROLLBACK");
    } catch (SQLException e) {
      if (!String.valueOf(e.getMessage()).contains("no transaction is active")) {
        throw e;
      }
    }
  }

  /** Runs one write and tells how many rows it changed. */
  long execute(Statement statement) throws SQLException {
    try {
      return prepare(statement.sql(), statement.parameters()).executeLargeUpdate();
    } catch (SQLException e) {
      forget(statement.sql());
      throw e;
    }
  }

  /** Runs one query and maps its rows. */
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

  /** A query's rows, read one by one; to be closed before the connection is. */
  static final class Rows implements AutoCloseable {
    private final PreparedStatement statement;
    private final ResultSet result;
    private final SqliteRow row;

    private Rows(PreparedStatement statement, ResultSet result) {
      this.statement = statement;
      this.result = result;
      this.row = new SqliteRow(result);
    }

    /** Goes to the next row; false when there is none. */
    boolean next() throws SQLException {
      return result.next();
    }

    /** The row it stands on. */
    SqliteRow row() {
      return row;
    }

    @Override
    public void close() {
      try (statement) {
        result.close();
      } catch (SQLException e) {
        throw new StoreUnavailable("a query cannot be closed", e);
      }
    }
  }

  /** Runs one query whose rows are too many to be held at once. */
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
    // The driver keeps the values of the last execution, so a missing one would go unnoticed.
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
      throw new IllegalArgumentException("no column holds a " + value.getClass().getName());
    }
  }

  /** Drops a prepared statement: evicted, or failed, after which the driver may have ended it. */
  private void forget(String sql) throws SQLException {
    Prepared dropped = prepared.remove(sql);
    if (dropped != null) {
      dropped.statement.close();
    }
  }

  /** Whether the disk, or the file as it is bounded, had no room left. */
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

  /** Whether an error is the machine's or the file's and not the statement's own. */
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

  /** Ends an open transaction without a trace and closes. */
  @Override
  public void close() throws SQLException {
    for (Map.Entry<String, Prepared> entry : prepared.entrySet()) {
      entry.getValue().statement.close();
    }
    prepared.clear();
    jdbc.close();
  }
}
