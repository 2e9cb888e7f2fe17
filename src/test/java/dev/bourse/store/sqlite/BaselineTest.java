package dev.bourse.store.sqlite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.Dialect;
import dev.bourse.store.Migration;
import dev.bourse.store.Migrations;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreRefusedException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A new store starts with the baseline, and one with the earlier migrations continues from there.
 */
@Tag("fast")
class BaselineTest {
  private static final String FOLDER = "db/schema";
  private static final int BASELINE = 56;
  private static final Clock CLOCK = Clock.fixed(Instant.ofEpochMilli(12_345), ZoneOffset.UTC);

  private SqliteConnection store = connection();

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

  private List<Migration> apply() throws Exception {
    return SqliteSchemaSession.settled(
        Migrations.load(FOLDER).apply(new SqliteSchemaSession(store), CLOCK));
  }

  private List<Long> recorded() throws SQLException {
    return store.query(
        "SELECT number FROM migration ORDER BY number", List.of(), row -> row.integer("number"));
  }

  private long tables() throws SQLException {
    return store
        .query(
            "SELECT COUNT(*) AS n FROM sqlite_schema WHERE type = 'table'",
            List.of(),
            row -> row.integer("n"))
        .get(0);
  }

  /** Makes the tables of the baseline and none of later migrations. */
  private void makeBaseline() throws Exception {
    store.execute(
        "CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL,"
            + " sha256 TEXT NOT NULL, applied_at BIGINT NOT NULL, serves_from INTEGER)");
    try (InputStream file =
        Objects.requireNonNull(
            getClass().getResourceAsStream("/" + FOLDER + "/0056-baseline.sql"))) {
      String sql = new String(file.readAllBytes(), StandardCharsets.UTF_8);
      String bare = sql.replaceAll("(?m)^[ \\t]*--.*$", "");
      for (String statement : Dialect.SQLITE.of(bare).split(";[ \\t]*\n", -1)) {
        if (!statement.isBlank()) {
          store.execute(statement);
        }
      }
    }
  }

  /** The records of the migrations before the baseline. */
  private void pretendSteps(int last) throws SQLException {
    for (int number = 1; number <= last; number++) {
      store.execute(
          Statement.of(
              "INSERT INTO migration (number, name, sha256, applied_at) VALUES (?, ?, ?, ?)",
              number,
              "step",
              "digest",
              1));
    }
  }

  @Test
  void aNewStoreHasTheBaselineAndWhatFollows() throws Exception {
    List<Migration> made = apply();
    assertEquals(new Migration(BASELINE, "baseline"), made.get(0));
    assertEquals(made.stream().map(step -> (long) step.number()).toList(), recorded());
    assertTrue(tables() > 70);
    assertEquals(List.of(), apply(), "nothing is left to do");
  }

  @Test
  void aStoreOfTheStepsThatTheBaselineStandsForGoesOnFromThere() throws Exception {
    List<Migration> made = apply();
    long all = tables();
    store.close();
    store = connection();
    makeBaseline();
    pretendSteps(BASELINE);
    assertEquals(made.subList(1, made.size()), apply());
    assertEquals(all, tables());
    assertEquals(List.of(), apply());
  }

  @Test
  void anOlderStoreIsRefusedAndSaysFromWhereTheProgramGoesOn() throws Exception {
    apply();
    store.execute("DELETE FROM migration");
    pretendSteps(BASELINE - 1);
    StoreRefusedException refusal = assertThrows(StoreRefusedException.class, this::apply);
    assertEquals(
        "the store is too old for this program: its last migration is 55 (step), and this program"
            + " continues from 56; start a release that knows both first",
        refusal.getMessage());
    assertEquals(BASELINE - 1, recorded().size());
  }

  @Test
  void ofABeginningThatFailsNothingIsLeft() throws Exception {
    // Another program's file, which has a table of the same name.
    store.execute(Statement.of("CREATE TABLE webhook_endpoint (id INTEGER)"));
    assertThrows(SQLException.class, this::apply);
    assertEquals(1, tables());
  }
}
