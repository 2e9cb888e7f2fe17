package dev.bourse.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.SharedPostgres;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the schemas of both engines must be, and what steps do with the rows they find. */
class SchemaTest {
  private static final String FAMILIES = "0009-refresh-families.sql";

  /** The steps before are known to every program there is. */
  private static final int FIRST_THAT_SERVES = 41;

  @Test
  void textIsComparedByItsBytesOnPostgresAsItIsInTheEmbeddedStore() throws Exception {
    try (Connection store = postgres()) {
      stepsUpTo(store, "postgres", "");
      assertEquals(
          List.of(),
          texts(
              store,
              "SELECT table_name || '.' || column_name FROM information_schema.columns"
                  + " WHERE table_schema = 'public' AND data_type = 'text'"
                  + " AND collation_name IS DISTINCT FROM 'C' ORDER BY 1"));
      assertTrue(
          texts(store, "SELECT column_name FROM information_schema.columns").size() > 100,
          "the schema is there");
    }
  }

  @Test
  void aRefreshTokenFromBeforeFamiliesIsTheFirstOfItsOwnOnSqlite(@TempDir Path folder)
      throws Exception {
    try (Connection store =
        DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("store.db"))) {
      keepsTokens(store, "sqlite");
    }
  }

  @Test
  void aRefreshTokenFromBeforeFamiliesIsTheFirstOfItsOwnOnPostgres() throws Exception {
    try (Connection store = postgres()) {
      keepsTokens(store, "postgres");
    }
  }

  private static void keepsTokens(Connection store, String engine) throws Exception {
    stepsUpTo(store, engine, FAMILIES);
    for (String grant : List.of("g1", "g2")) {
      execute(
          store,
          "INSERT INTO oauth_grant VALUES ('%s', 'acme', 'alice', 'app', 'App', 'org:read', 'r', 1,"
                  .formatted(grant)
              + " 1, 1, 2, 3, NULL)");
      execute(
          store,
          "INSERT INTO oauth_refresh VALUES ('%1$s-old', '%1$s', 1, 2), ('%1$s-new', '%1$s', 2, NULL)"
              .formatted(grant));
    }

    step(store, engine, FAMILIES);

    assertEquals(
        List.of("g1-new g1 g1-new", "g2-new g2 g2-new"),
        texts(
            store,
            "SELECT family_sha256 || ' ' || grant_id || ' ' || refresh_sha256 FROM oauth_refresh"
                + " ORDER BY 1"));
  }

  private static Connection postgres() throws SQLException {
    return SharedPostgres.server().connect(SharedPostgres.server().newDatabase());
  }

  /** Carries out the steps in front of one; all of them when there is none of this name. */
  /** A step is taken back by starting the release before, which needs this line to know it may. */
  @Test
  void everyStepSaysFromWhichProgramOnItServesAlikeOnBothEngines() throws Exception {
    List<String> steps = resource("sqlite", "migrations.index").lines().toList();
    assertEquals(steps, resource("postgres", "migrations.index").lines().toList());
    for (String name : steps.subList(FIRST_THAT_SERVES, steps.size())) {
      String said = resource("sqlite", name).lines().findFirst().orElse("");
      assertTrue(said.matches("-- serves-from: \\d+"), name);
      assertEquals(said, resource("postgres", name).lines().findFirst().orElse(""), name);
    }
  }

  private static void stepsUpTo(Connection store, String engine, String last) throws Exception {
    execute(store, "CREATE TABLE migration (number INTEGER PRIMARY KEY)");
    for (String name : resource(engine, "migrations.index").lines().toList()) {
      if (name.equals(last)) {
        return;
      }
      step(store, engine, name);
    }
  }

  private static void step(Connection store, String engine, String name) throws Exception {
    for (String sql : resource(engine, name).split(";[ \\t\\r]*(\\n|$)", -1)) {
      if (!sql.replaceAll("(?m)^--.*$", "").isBlank()) {
        execute(store, sql);
      }
    }
  }

  private static void execute(Connection store, String sql) throws SQLException {
    try (java.sql.Statement statement = store.createStatement()) {
      statement.execute(sql);
    }
  }

  private static List<String> texts(Connection store, String sql) throws SQLException {
    try (java.sql.Statement statement = store.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      List<String> texts = new ArrayList<>();
      while (rows.next()) {
        texts.add(rows.getString(1));
      }
      return texts;
    }
  }

  private static String resource(String engine, String name) throws IOException {
    try (InputStream in =
        SchemaTest.class.getClassLoader().getResourceAsStream("db/" + engine + "/" + name)) {
      if (in == null) {
        throw new IOException("there is no " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
