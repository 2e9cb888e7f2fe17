package dev.bourse.store.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Portable SQL translated for PostgreSQL. */
@Tag("fast")
class PostgresSqlTest {
  @Test
  void placeholdersAreNumberedWhereTheyAreNotText() {
    PostgresSql sql = PostgresSql.of("SELECT '?' || ? /* ? */, \"?\" FROM t WHERE a = ? -- ?\n");
    assertEquals("SELECT '?' || $1 /* ? */, \"?\" FROM t WHERE a = $2 -- ?\n", sql.text());
    assertEquals(2, sql.parameters());
  }

  @Test
  void aLogIsTheTableOfAnInsertAndTakesEightRowsAtOnce() {
    PostgresSql one = PostgresSql.of("INSERT INTO log (at, text) VALUES (?, ?)");
    PostgresSql.Log log = one.log();
    assertEquals("log", log.table());
    assertEquals(
        "INSERT INTO log (at, text) VALUES ($1, $2), ($3, $4), ($5, $6), ($7, $8), ($9, $10),"
            + " ($11, $12), ($13, $14), ($15, $16)",
        log.insertRows().text());
    assertEquals(16, log.insertRows().parameters());
    assertSame(log, one.log());
  }

  @Test
  void whatDoesNotEndWithItsRowAppendsToNoLog() {
    for (String other :
        List.of(
            "INSERT INTO log (at) VALUES (?) ON CONFLICT DO NOTHING",
            "INSERT INTO log (at, text) VALUES (?, lower(?))",
            "INSERT INTO log (at, text) VALUES (?, 'x')",
            "INSERT INTO log (at) VALUES (?), (?)",
            "DELETE FROM log",
            "INSERT INTO log (at) SELECT at FROM other WHERE text = ?")) {
      assertThrows(IllegalArgumentException.class, PostgresSql.of(other)::log, other);
    }
  }
}
