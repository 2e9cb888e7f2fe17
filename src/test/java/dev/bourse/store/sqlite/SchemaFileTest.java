package dev.bourse.store.sqlite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.Migration;
import dev.bourse.store.Migrations;
import dev.bourse.store.Statement;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A new embedded store begins with what all steps of its schema come to. */
@Tag("fast")
class SchemaFileTest {
  private static final String FOLDER = "db/sqlite";
  private static final Clock CLOCK = Clock.fixed(Instant.ofEpochMilli(12_345), ZoneOffset.UTC);

  private final SqliteConnection store = connection();

  private static SqliteConnection connection() {
    try {
      return SqliteConnection.forNothing();
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  @AfterEach
  void close() throws SQLException {
    store.close();
  }

  private static List<Migration> apply(Migrations schema, SqliteConnection to) throws Exception {
    return SqliteSchemaSession.settled(schema.apply(new SqliteSchemaSession(to), CLOCK));
  }

  private static List<String> record(SqliteConnection of) throws SQLException {
    return of.query(
        """
        SELECT number || ' ' || name || ' ' || sha256 || ' ' || applied_at || ' '
        || COALESCE(serves_from, '-') AS step FROM migration ORDER BY number\
        """,
        List.of(),
        row -> row.text("step"));
  }

  @Test
  void itIsTheStoreThatAllStepsMake() throws Exception {
    List<Migration> atOnce = apply(Migrations.load(FOLDER), store);
    try (SqliteConnection stepped = connection()) {
      assertEquals(apply(Migrations.loadSteps(FOLDER), stepped), atOnce);
      assertEquals(SchemaFile.definitions(stepped), SchemaFile.definitions(store));
      assertEquals(record(stepped), record(store));
    }
    assertTrue(record(store).size() > 40 && SchemaFile.definitions(store).size() > 100);
    assertEquals(List.of(), apply(Migrations.load(FOLDER), store), "nothing is left to do");
  }

  @Test
  void whereAStepWasEverCarriedOutTheOthersAreToo() throws Exception {
    Migrations steps = Migrations.loadSteps(FOLDER);
    apply(steps, store);
    List<String> whole = SchemaFile.definitions(store);
    store.execute("DELETE FROM migration WHERE number = " + steps.version());
    // The last step meets its own work: it is carried out, and nothing begins anew.
    assertThrows(SQLException.class, () -> apply(Migrations.load(FOLDER), store));
    assertEquals(whole, SchemaFile.definitions(store));
    assertEquals(steps.version() - 1, record(store).size());
  }

  @Test
  void ofABeginningThatFailsNothingIsLeft() throws Exception {
    // Somebody else's file, which has a table of the same name.
    store.execute(Statement.of("CREATE TABLE webhook_endpoint (id INTEGER)"));
    assertThrows(SQLException.class, () -> apply(Migrations.load(FOLDER), store));
    assertEquals(
        List.of("CREATE TABLE webhook_endpoint (id INTEGER)"), SchemaFile.definitions(store));
  }
}
