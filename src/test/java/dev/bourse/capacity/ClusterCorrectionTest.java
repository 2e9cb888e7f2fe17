package dev.bourse.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.store.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Future times of activity become the present; no entry moves past a later one. */
class ClusterCorrectionTest extends ExchangeFixture {
  private static final long HOUR = 3_600_000;

  /** Stores an entry of a cluster for each time of the clock, in the order of their ids. */
  private void happened(String cluster, long... aheadMillis) throws Exception {
    List<Statement> statements = new ArrayList<>();
    for (long ahead : aheadMillis) {
      statements.add(
          ActivityRows.insert(
              new Activity(Sample.ACTOR, new ClusterEvent.Declared(8, 200)),
              cluster,
              clock.millis() + ahead));
    }
    await(database.commit(statements));
  }

  private void correct() throws Exception {
    await(
        new ClusterCorrection(vertx, database, clusters, owners, HOUR, clock)
            .correct(clock.millis()));
  }

  /** Returns how far each entry of a cluster is from now, in the order of their ids. */
  private List<Long> ahead(String cluster) throws Exception {
    return integers("SELECT ts FROM activity WHERE cluster = '" + cluster + "' ORDER BY id")
        .stream()
        .map(at -> at - clock.millis())
        .toList();
  }

  @Test
  void whatLiesAheadBecomesThePresentButPassesNothingThatCameLater() throws Exception {
    Map<String, List<Long>> corrected =
        Map.of(
            "right", List.of(-HOUR, -5L, 30_000L),
            "ahead", List.of(-HOUR, 0L, 0L),
            "overtaken", List.of(-HOUR, -7_000L, -7_000L, -7_000L, -3_000L),
            "between", List.of(-9_000L, -9_000L, -2_000L, -2_000L, 0L),
            "within", List.of(20_000L, 20_000L));
    happened("right", -HOUR, -5, 30_000);
    happened("ahead", -HOUR, HOUR, 2 * HOUR);
    happened("overtaken", -HOUR, HOUR, HOUR + 1, -7_000, -3_000);
    happened("between", HOUR, -9_000, HOUR, -2_000, HOUR);
    happened("within", HOUR, 20_000);

    correct();

    for (Map.Entry<String, List<Long>> cluster : corrected.entrySet()) {
      assertEquals(cluster.getValue(), ahead(cluster.getKey()), cluster.getKey());
    }
    correct();
    assertEquals(corrected.get("overtaken"), ahead("overtaken"), "once more");
  }

  /** Stores a declaration with its time by the clock and its effective time. */
  private Statement declared(String cluster, long aheadMillis, long effectiveAheadMillis) {
    return ActivityRows.insert(
        new Activity(
            Sample.ACTOR,
            new ClusterEvent.Declared(8, 200, null, clock.millis() + effectiveAheadMillis)),
        cluster,
        clock.millis() + aheadMillis);
  }

  /** Returns how far each effective time is from now, in the order of the entries' ids. */
  private List<Long> effective(String cluster) throws Exception {
    return integers(
            "SELECT effective_at FROM activity WHERE cluster = '%s' ORDER BY id".formatted(cluster))
        .stream()
        .map(at -> at - clock.millis())
        .toList();
  }

  @Test
  void anEffectiveTimeMovesOnlyWithTheDeclarationThatSetIt() throws Exception {
    await(
        database.commit(
            List.of(
                declared("past", -2 * HOUR, -2 * HOUR + 5_000),
                declared("past", HOUR, -2 * HOUR + 5_000),
                declared("ahead", HOUR, HOUR + 5_000),
                declared("ahead", HOUR + 2_000, HOUR + 5_000),
                declared("ahead", 2 * HOUR, HOUR + 5_000),
                declared("overtaken", HOUR, HOUR + 5_000),
                declared("overtaken", -7_000, -2_000),
                declared("apart", 30_000, HOUR),
                declared("apart", 2 * HOUR, HOUR))));

    correct();

    assertEquals(List.of(-2 * HOUR, 0L), ahead("past"));
    assertEquals(List.of(-2 * HOUR + 5_000, -2 * HOUR + 5_000), effective("past"), "not earlier");
    assertEquals(List.of(5_000L, 5_000L, 5_000L), effective("ahead"), "as long as before");
    assertEquals(List.of(-7_000L, -7_000L), ahead("overtaken"));
    assertEquals(List.of(5_000L, -2_000L), effective("overtaken"), "not before the present");
    assertEquals(List.of(HOUR, HOUR), effective("apart"), "its declaration does not move");
  }
}
