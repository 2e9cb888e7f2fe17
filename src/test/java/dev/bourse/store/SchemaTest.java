package dev.bourse.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.SharedPostgres;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Rules of the schema. */
class SchemaTest {
  /** Migrations that a program has to know: processes that do not are stopped before. */
  private static final Set<String> BREAKS = Set.of("0057-commit-log.sql");

  @Test
  void textIsComparedByItsBytesOnPostgresAsItIsInTheEmbeddedStore() throws Exception {
    String url = SharedPostgres.server().newStore();
    try (Connection store = SharedPostgres.server().connect(url)) {
      assertEquals(
          List.of(),
          texts(
              store,
              "SELECT table_name || '.' || column_name FROM information_schema.columns"
                  + " WHERE table_schema = 'public' AND data_type = 'text'"
                  + " AND table_name <> 'migration'"
                  + " AND collation_name IS DISTINCT FROM 'C' ORDER BY 1"));
      assertTrue(
          texts(store, "SELECT column_name FROM information_schema.columns").size() > 100,
          "the schema is there");
    }
  }

  /** A rollback starts the previous release, which needs this line to accept the store. */
  @Test
  void everyStepSaysFromWhichProgramOnItServes() throws Exception {
    List<String> steps = resource("migrations.index").lines().toList();
    for (String name : steps.subList(1, steps.size())) {
      String said = resource(name).lines().findFirst().orElse("");
      assertEquals(!BREAKS.contains(name), said.matches("-- serves-from: \\d+"), name);
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

  private static String resource(String name) throws IOException {
    try (InputStream in =
        SchemaTest.class.getClassLoader().getResourceAsStream("db/schema/" + name)) {
      if (in == null) {
        throw new IOException("there is no " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
