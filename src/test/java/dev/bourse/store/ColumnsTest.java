package dev.bourse.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.bourse.store.sqlite.MemoryEngine;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Statements composed from a table's columns, and rows read back by their names. */
final class ColumnsTest {
  private enum Kind {
    SAVINGS
  }

  private record Account(String id, long cents, @Nullable String note) {}

  private static final Columns<Account> ACCOUNT =
      Columns.<Account>of("savings")
          .fixed("id", Account::id)
          .changing("cents", Account::cents)
          .changing("note", Account::note);

  private MemoryEngine engine;

  @BeforeEach
  void create() throws Exception {
    engine = MemoryEngine.migrated();
    engine.commit(
        List.of(
            Statement.of("CREATE TABLE savings (id TEXT PRIMARY KEY, cents INTEGER, note TEXT)")));
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void aRowIsReadAsItWasWritten() {
    engine.commit(List.of(ACCOUNT.insert(new Account("a", 5, null))));

    assertEquals(List.of(new Account("a", 5, null)), accounts());
  }

  @Test
  void anUpdateWritesWhatChangesAndLeavesWhatIsFixed() {
    engine.commit(List.of(ACCOUNT.insert(new Account("a", 5, null))));
    engine.commit(List.of(ACCOUNT.update(new Account("other", 7, "n"), "id = ?", "a")));

    assertEquals(List.of(new Account("a", 7, "n")), accounts());
  }

  @Test
  void whatFollowsTheValuesIsPartOfAnInsert() {
    engine.commit(List.of(ACCOUNT.insert(new Account("a", 5, null))));
    engine.commit(
        List.of(ACCOUNT.insert(new Account("a", 9, null), "ON CONFLICT (id) DO NOTHING")));

    assertEquals(List.of(new Account("a", 5, null)), accounts());
  }

  @Test
  void aDemandThatDoesNotHoldFailsTheCommitWithItsRefusal() {
    IllegalStateException refusal = new IllegalStateException("no such account");
    Statement demanding =
        ACCOUNT.update(new Account("b", 1, null), "id = ?", "b").orElse(() -> refusal);
    Exception thrown =
        assertThrows(
            IllegalStateException.class,
            () -> engine.commit(List.of(ACCOUNT.insert(new Account("a", 5, null)), demanding)));

    assertEquals(refusal, thrown);
    assertEquals(List.of(), accounts(), "all of it is undone");
  }

  @Test
  void theTablesOfAJoinAreToldApartByPrefixes() {
    engine.commit(
        List.of(
            ACCOUNT.insert(new Account("a", 5, null)), ACCOUNT.insert(new Account("b", 6, "a"))));
    String join =
        "SELECT %s, %s FROM savings c LEFT JOIN savings o ON o.id = c.note ORDER BY c.id"
            .formatted(ACCOUNT.names("c"), ACCOUNT.names("o", "other_"));
    List<String> others =
        engine.query(
            join, List.of(), row -> row.text("id") + " " + row.of("other_").textOrNull("id"));

    assertEquals(List.of("a null", "b a"), others);
  }

  @Test
  void valuesOfEveryKindAreReadByName() {
    byte[] bytes = {1, 2};
    engine.query(
        "SELECT 1 AS truth, 7 AS number, ? AS bytes, 'SAVINGS' AS kind",
        List.of(bytes),
        row -> {
          assertEquals(true, row.truth("truth"));
          assertEquals(7, row.smallInteger("number"));
          assertArrayEquals(bytes, row.bytes("bytes"));
          assertEquals(Kind.SAVINGS, row.value(Kind.class, "kind"));
          return row;
        });
  }

  @Test
  void aColumnThatTheQueryDoesNotHaveIsNamed() {
    Exception thrown =
        assertThrows(
            IllegalArgumentException.class,
            () -> engine.query("SELECT 1 AS n", List.of(), row -> row.text("m")));

    assertEquals("no column m", thrown.getMessage());
  }

  private List<Account> accounts() {
    return engine.query(
        "SELECT " + ACCOUNT.names() + " FROM savings",
        List.of(),
        row -> new Account(row.text("id"), row.integer("cents"), row.textOrNull("note")));
  }
}
