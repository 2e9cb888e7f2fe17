package dev.bourse.store.sqlite;

import dev.bourse.store.Migrations;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The embedded engine on a database in memory, called directly: the product's schema and the
 * product's SQL, without threads, files or waits. One thread at a time.
 */
public final class MemoryEngine implements AutoCloseable {
  private final SqliteConnection connection;
  private int images;

  private MemoryEngine(SqliteConnection connection) {
    this.connection = connection;
  }

  /** A store after a first start. */
  public static MemoryEngine migrated() throws Exception {
    SqliteConnection connection = SqliteConnection.forNothing();
    SqliteSchemaSession.settled(
        Migrations.load("db/schema").apply(new SqliteSchemaSession(connection), Clock.systemUTC()));
    connection.execute("PRAGMA foreign_keys = ON");
    connection.execute("PRAGMA synchronous = OFF");
    return new MemoryEngine(connection);
  }

  /** Rows of one query. */
  public <T> List<T> query(
      String sql, List<? extends @Nullable Object> parameters, RowMapper<T> mapper) {
    try {
      return connection.query(sql, parameters, mapper);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** The one integer that a query returns. */
  public long number(String sql, Object... parameters) {
    String ofValue = "WITH found (value) AS (%s) SELECT value FROM found".formatted(sql);
    return query(ofValue, List.of(parameters), row -> row.integer("value")).get(0);
  }

  /** All rows at a moment. */
  public static final class Image {
    private final Path file;

    private Image(Path file) {
      this.file = file;
    }
  }

  /**
   * Copies all rows into a file.
   *
   * @param folder where the file goes, which the caller deletes
   */
  public Image image(Path folder) {
    Path file = folder.resolve("image-" + ++images);
    copy("backup to", file);
    return new Image(file);
  }

  /** Replaces all rows with those of an image. */
  public void restore(Image image) {
    copy("restore from", image.file);
  }

  /** Both commands belong to the driver, not to the engine. */
  private void copy(String command, Path file) {
    try {
      connection.execute("%s '%s'".formatted(command, file));
    } catch (SQLException e) {
      throw new IllegalStateException(command, e);
    }
  }

  /**
   * Carries out all statements in one transaction, or none.
   *
   * @throws RuntimeException a refusal, when one changed another number of rows than it demands
   */
  public void commit(List<Statement> statements) {
    try {
      connection.execute("BEGIN");
      for (Statement statement : statements) {
        long changed = connection.execute(statement);
        RuntimeException refusal = statement.refusalOf(changed);
        if (refusal != null) {
          throw refusal;
        }
      }
      connection.execute("COMMIT");
    } catch (SQLException e) {
      undo();
      throw new IllegalStateException(e);
    } catch (RuntimeException e) {
      undo();
      throw e;
    }
  }

  private void undo() {
    try {
      connection.rollback();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The failure of a commit with an unknown outcome. */
  public static StoreUnavailableException unknown(String message) {
    return new StoreUnavailableException(message, null, false, true);
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
