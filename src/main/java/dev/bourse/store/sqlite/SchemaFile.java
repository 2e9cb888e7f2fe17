package dev.bourse.store.sqlite;

import dev.bourse.store.Migrations;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.util.List;

/**
 * The build's step from the steps of the embedded store's schema to what they come to: the
 * definitions of a store that went through all of them. A new store begins with those.
 */
public final class SchemaFile {
  private SchemaFile() {}

  /**
   * Writes {@link Migrations#WHOLE}.
   *
   * @param args the folder on the class path that has the steps, and the folder to write to
   * @throws Exception when a step cannot be carried out, or the file not be written
   */
  public static void main(String[] args) throws Exception {
    try (SqliteConnection connection = SqliteConnection.forNothing()) {
      SqliteSchemaSession.settled(
          Migrations.loadSteps(args[0])
              .apply(new SqliteSchemaSession(connection), Clock.systemUTC()));
      requireEmpty(connection);
      Files.writeString(
          Path.of(args[1]).resolve(Migrations.WHOLE),
          String.join(";\n", definitions(connection)) + ";\n");
    }
  }

  /** What the store's tables and indexes are defined by, in an order in which they can be. */
  static List<String> definitions(SqliteConnection connection) throws SQLException {
    return connection.query(
        """
        SELECT sql FROM sqlite_schema
        WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY rowid\
        """,
        List.of(), row -> row.text("sql"));
  }

  /**
   * What is not defined but stored would be lacking in a new store: no step leaves such a row yet.
   */
  private static void requireEmpty(SqliteConnection connection) throws SQLException {
    for (String table :
        connection.query(
            """
            SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'migration'
            AND name NOT LIKE 'sqlite!_%' ESCAPE '!'\
            """,
            List.of(), row -> row.text("name"))) {
      String anyRow = "SELECT COUNT(*) AS found FROM " + table;
      if (connection.query(anyRow, List.of(), row -> row.integer("found")).get(0) > 0) {
        throw new IllegalStateException(
            "a step of the schema leaves rows in %s; a new store would lack them".formatted(table));
      }
    }
  }
}
