package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A replay finds statements that mean something else on PostgreSQL. The engines really differ in
 * LIKE: the embedded one ignores case.
 */
@OneEngine("it runs both and compares them")
class PostgresReplayTest {
  private Path data;
  private final StatementRecord record = new StatementRecord(true);
  private Database engine;
  private Database store;

  @BeforeEach
  void open(@TempDir Path data) {
    this.data = data;
    engine =
        RunningBourse.await(
            TestStore.openEmbedded(
                SharedPostgres.vertx(), data.resolve("bourse.db"), Clock.systemUTC()));
    store = record.around(engine);
    commit(
        Statement.of(
            "INSERT INTO org (org_id, display, kind, created_at) VALUES (?, ?, ?, ?)",
            "acme",
            "Acme",
            "standard",
            0L));
  }

  @AfterEach
  void close() {
    RunningBourse.await(engine.close());
  }

  private void commit(Statement statement) {
    RunningBourse.await(store.commit(List.of(statement)));
  }

  private List<String> differences() throws Exception {
    RunningBourse.await(engine.close());
    return PostgresReplay.differences(record, data);
  }

  @Test
  void statementsThatMeanTheSameMatch() throws Exception {
    commit(Statement.of("UPDATE org SET display = ? WHERE org_id = ?", "ACME", "acme"));
    store.commit(
        List.of(
            Statement.guarded(
                () -> ApiException.of(ErrorCode.NOT_FOUND, "no org"),
                "UPDATE org SET display = ? WHERE org_id = ?",
                "x",
                "nobody")));
    RunningBourse.await(
        store.read(
            "SELECT display FROM org WHERE org_id = ?",
            List.of("acme"),
            row -> row.text("display")));
    assertEquals(List.of(), differences());
  }

  @Test
  void aGuardWithAnotherCountIsADifference() throws Exception {
    commit(
        Statement.guarded(
            () -> ApiException.of(ErrorCode.NOT_FOUND, "no org"),
            "UPDATE org SET display = ? WHERE org_id LIKE ?",
            "Acme",
            "ACME"));
    assertTrue(differences().get(0).startsWith("stored, and on PostgreSQL"));
  }

  @Test
  void rowsThatDifferAreADifference() throws Exception {
    commit(Statement.of("UPDATE org SET display = ? WHERE org_id LIKE ?", "other", "ACME"));
    assertTrue(differences().get(0).startsWith("org: only embedded 1 rows"));
  }

  @Test
  void aQueryThatReadsOtherRowsIsADifference() throws Exception {
    String sql = "SELECT display FROM org WHERE org_id LIKE ?";
    RunningBourse.await(store.read(sql, List.of("ACME"), row -> row.text("display")));
    List<String> differences = differences();
    assertTrue(
        differences.stream()
            .anyMatch(told -> told.contains("[{display=Acme}], and on PostgreSQL []")),
        differences.toString());
  }

  @Test
  void rowsWithoutAnOrderBetweenThemAreADifferenceThoughBothEnginesAgree() throws Exception {
    for (long at = 1; at <= 2; at++) {
      commit(
          Statement.of(
              "INSERT INTO org (org_id, display, kind, created_at) VALUES (?, ?, ?, ?)",
              "twin-" + at,
              "Twin",
              "standard",
              at));
    }
    String sql = "SELECT org_id, display, created_at FROM org WHERE org_id <> ? ORDER BY ";
    for (String order :
        List.of("display", "created_at DESC LIMIT 9", "display, org_id", "org_id, display")) {
      RunningBourse.await(store.read(sql + order, List.of(""), row -> row.text("org_id")));
    }
    assertEquals(
        List.of(
            sql + "display[]: no order between {org_id=twin-1} and {org_id=twin-2}",
            sql
                + "created_at DESC LIMIT 9[]: no order between {org_id=twin-2} and {org_id=twin-1}"),
        differences().stream().filter(told -> told.contains("no order")).toList());
  }
}
