package dev.bourse.access;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.capacity.StoreFixture;
import dev.bourse.store.Statement;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What becomes of operators' tokens that share a name, as the release before let them. */
class OperatorNamesTest extends StoreFixture {
  /** The folder of the engine's steps. */
  String steps() {
    return "db/sqlite";
  }

  private static Statement token(String id, String name, long createdAt) {
    return Statement.of(
        """
        INSERT INTO operator_token (token_id, name, secret_sha256, created_by, created_at)
        VALUES (?, ?, ?, 'system:start', ?)\
        """,
        id,
        name,
        "0".repeat(63) + createdAt,
        createdAt);
  }

  @Test
  void allButTheNewestOfANameGetTheirIdBehindIt() throws Exception {
    String longest = "x".repeat(63);
    await(
        database.commit(
            List.of(
                Statement.of("DROP INDEX operator_token_name"),
                token("OldOldOldOld", "dana", 1),
                token("MidMidMidMid", "dana", 2),
                token("NewNewNewNew", "dana", 2),
                token("Erin00000000", "erin", 1),
                token("Long10000000", longest, 1),
                token("Long20000000", longest, 2))));
    await(database.commit(step()));
    assertEquals(
        List.of(
            "dana",
            "erin",
            "dana-midmidmidmid",
            "dana-oldoldoldold",
            "x".repeat(50) + "-long10000000",
            longest),
        texts("SELECT name FROM operator_token ORDER BY LENGTH(name), name"));
  }

  private List<Statement> step() throws Exception {
    String file = steps() + "/0054-operator-names.sql";
    try (InputStream in =
        Objects.requireNonNull(getClass().getClassLoader().getResourceAsStream(file), file)) {
      String sql = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      List<Statement> statements = new ArrayList<>();
      for (String statement : sql.replaceAll("(?m)^--.*$", "").strip().split(";", -1)) {
        if (!statement.isBlank()) {
          statements.add(Statement.of(statement.strip()));
        }
      }
      return statements;
    }
  }
}
