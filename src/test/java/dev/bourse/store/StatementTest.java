package dev.bourse.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Valid statements. */
@Tag("fast")
class StatementTest {
  private static final Statement INSERT = Statement.of("INSERT INTO log (text) VALUES (?)", "x");

  @Test
  void aStatementThatAppendsDemandsNothing() {
    Statement guarded = INSERT.orElse(IllegalStateException::new);
    assertTrue(INSERT.appending().appends(), "it appends");
    assertEquals(
        "an appending statement cannot demand a number of rows: INSERT INTO log (text) VALUES (?)",
        assertThrows(IllegalArgumentException.class, guarded::appending).getMessage());
  }
}
