package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.testing.SharedPostgres;
import dev.bourse.testing.StatementPlans;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The check of statements finds full table scans on either engine. */
class StatementPlansTest {
  private static final String BY_KEY = "SELECT detail FROM audit WHERE id = ?";
  private static final String BY_TEXT = "DELETE FROM audit WHERE detail = ?";
  private static final String FIRST = "SELECT id FROM audit ORDER BY id LIMIT ?";
  private static final String SMALL = "SELECT name FROM pool WHERE site = ?";

  private static final String JOINED =
      "SELECT COUNT(*) FROM node n JOIN pool p ON p.name = n.pool WHERE p.provider = ?";

  private static void create(Connection store) throws SQLException {
    try (var statement = store.createStatement()) {
      statement.execute("CREATE TABLE audit (id BIGINT PRIMARY KEY, detail TEXT)");
      statement.execute("CREATE TABLE pool (name TEXT PRIMARY KEY, site TEXT)");
    }
  }

  @Test
  void onSqlite() throws SQLException {
    try (Connection store = DriverManager.getConnection("jdbc:sqlite::memory:")) {
      create(store);
      assertEquals(
          List.of("SCAN audit of audit: " + BY_TEXT),
          StatementPlans.faultsOnSqlite(store, Set.of(BY_KEY, BY_TEXT, SMALL)));
    }
  }

  @Test
  void onPostgres() throws Exception {
    try (Connection store = StatementPlans.connect(SharedPostgres.server().newDatabase())) {
      create(store);
      assertEquals(
          List.of("Seq Scan of audit: " + BY_TEXT),
          StatementPlans.faultsOnPostgres(store, Set.of(BY_KEY, BY_TEXT, FIRST, SMALL)));
    }
  }

  @Test
  void onPostgresWhateverItHasSeenOfATestsFewRows() throws Exception {
    try (Connection store = StatementPlans.connect(SharedPostgres.server().newDatabase());
        var statement = store.createStatement()) {
      statement.execute("CREATE TABLE pool (name TEXT PRIMARY KEY, provider TEXT)");
      statement.execute("CREATE TABLE node (id TEXT PRIMARY KEY, pool TEXT)");
      statement.execute("CREATE INDEX node_pool ON node (pool)");
      statement.execute("INSERT INTO pool VALUES ('a', 'ssh')");
      statement.execute("INSERT INTO node SELECT n, 'a' FROM generate_series(1, 300) n");
      statement.execute("VACUUM ANALYZE");
      assertEquals(List.of(), StatementPlans.faultsOnPostgres(store, Set.of(JOINED)));
    }
  }
}
