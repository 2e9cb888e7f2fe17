package dev.bourse.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.postgres.PostgresConfig;
import dev.bourse.store.postgres.PostgresDatabase;
import dev.bourse.store.postgres.PostgresUrl;
import dev.bourse.store.sqlite.SqliteConfig;
import dev.bourse.store.sqlite.SqliteDatabase;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Vertx;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process of the previous release works with this release's schema: migrations only expand. */
class PreviousReleaseTest {
  private static final Pattern INSERT = Pattern.compile("INSERT INTO (\\w+) \\(([^()]*)\\).*");

  @Test
  void theSchemaTakesEveryStatementOfTheReleaseBeforeOnPostgres() throws Exception {
    Vertx vertx = Vertx.vertx();
    String url = SharedPostgres.server().newDatabase();
    CommitContract.await(
        CommitContract.await(
                PostgresDatabase.open(
                    vertx,
                    PostgresConfig.defaults(PostgresUrl.parse(url), ""),
                    "db/schema",
                    Clock.systemUTC(),
                    new Random()))
            .close());
    CommitContract.await(vertx.close());
    try (Connection store = SharedPostgres.server().connect(url)) {
      // Described by the server, not only parsed by the client.
      assertTaken(store, statement -> statement.getParameterMetaData().getParameterCount());
      assertOldRowsDo(
          store,
          "SELECT table_name, column_name FROM information_schema.columns"
              + " WHERE table_schema = 'public' AND is_nullable = 'NO' AND column_default IS NULL"
              + " AND is_identity = 'NO'");
    }
  }

  @Test
  void theSchemaTakesEveryStatementOfTheReleaseBeforeInTheEmbeddedStore(@TempDir Path folder)
      throws Exception {
    Vertx vertx = Vertx.vertx();
    Path file = folder.resolve("bourse.db");
    CommitContract.await(
        CommitContract.await(
                SqliteDatabase.open(
                    vertx, file, SqliteConfig.defaults(), "db/schema", Clock.systemUTC()))
            .close());
    CommitContract.await(vertx.close());
    try (Connection store = DriverManager.getConnection("jdbc:sqlite:" + file)) {
      assertTaken(store, statement -> statement.getParameterMetaData().getParameterCount());
      assertOldRowsDo(
          store,
          "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c"
              + " WHERE m.type = 'table' AND c.\"notnull\" = 1 AND c.dflt_value IS NULL"
              + " AND c.pk = 0");
    }
  }

  private interface Look {
    int at(PreparedStatement statement) throws SQLException;
  }

  private static void assertTaken(Connection store, Look look) throws Exception {
    List<String> refused = new ArrayList<>();
    for (String sql : statements()) {
      try (PreparedStatement prepared = store.prepareStatement(sql)) {
        look.at(prepared);
      } catch (SQLException e) {
        refused.add(sql + ": " + e.getMessage());
      }
    }
    assertEquals(List.of(), refused);
  }

  /** A required column without a default, which every row must set. */
  private static void assertOldRowsDo(Connection store, String needed) throws Exception {
    Map<String, Set<String>> columns = new HashMap<>();
    try (java.sql.Statement statement = store.createStatement();
        ResultSet rows = statement.executeQuery(needed)) {
      while (rows.next()) {
        columns.computeIfAbsent(rows.getString(1), t -> new TreeSet<>()).add(rows.getString(2));
      }
    }
    assertTrue(columns.size() > 20, "the schema is there");
    int rows = 0;
    List<String> lacking = new ArrayList<>();
    for (String sql : statements()) {
      Matcher insert = INSERT.matcher(sql);
      if (insert.matches()) {
        rows++;
        Set<String> missing = new TreeSet<>(columns.getOrDefault(insert.group(1), Set.of()));
        missing.removeAll(List.of(insert.group(2).split(", ", -1)));
        if (!missing.isEmpty()) {
          lacking.add(missing + " in " + sql);
        }
      }
    }
    assertTrue(rows > 30, rows + " statements insert");
    assertEquals(List.of(), lacking);
  }

  private static List<String> statements() throws Exception {
    try (InputStream in =
        PreviousReleaseTest.class
            .getClassLoader()
            .getResourceAsStream("db/previous-statements.txt")) {
      assertTrue(in != null, "the record is there");
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.startsWith("#"))
          .toList();
    }
  }
}
