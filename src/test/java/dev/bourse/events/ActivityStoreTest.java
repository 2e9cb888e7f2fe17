package dev.bourse.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Activity;
import dev.bourse.capacity.ActivityRows;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.pools.settings.PoolStore;
import dev.bourse.store.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Activity in the store. */
class ActivityStoreTest extends StoreFixture {
  private static final Activity ACTION =
      new Activity(
          "system:market", new ClusterEvent.Released("10.0.0.1", Allocation.Reason.OUTBID));

  @Test
  void everyFieldSurvivesAndBothKindsAreMergedNewestFirst() throws Exception {
    Activity request = new Activity("token:abc", new ClusterEvent.Declared(8, 250));
    write(request, "c1", 10);
    write(ACTION, "c1", 20);
    write(request, "c2", 15);
    write(ACTION, "c1", 10);

    List<ActivityStore.StoredActivity> all =
        await(new ActivityStore(database).listNewest(List.of("c1", "c2"), Optional.empty()));

    assertEquals(List.of(20L, 15L, 10L, 10L), all.stream().map(e -> e.atMillis()).toList());
    assertEquals(List.of(2L, 3L, 4L, 1L), all.stream().map(e -> e.id()).toList());
    assertEquals(ACTION, all.get(0).activity());
    assertEquals(request, all.get(1).activity());
    assertEquals("c2", all.get(1).cluster());
  }

  @Test
  void anotherClustersEntriesAreLeftOutAndWhoSelectsRequestsAlone() throws Exception {
    write(new Activity("token:abc", new ClusterEvent.Declared(8, 250)), "c1", 10);
    write(ACTION, "c1", 20);
    ActivityStore store = new ActivityStore(database);

    assertEquals(1, await(store.listNewest(List.of("c1"), Optional.of("user"))).size());
    assertEquals(0, await(store.listNewest(List.of("c1"), Optional.of("system"))).size());
    assertEquals(0, await(store.listNewest(List.of("c2"), Optional.empty())).size());
    assertEquals(0, await(store.listNewest(List.of(), Optional.empty())).size());
  }

  @Test
  void eachKindIsReadFourHundredDeep() throws Exception {
    List<Statement> rows = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      rows.add(ActivityRows.insert(new Activity("x", new ClusterEvent.Declared(8, 100)), "c1", i));
      rows.add(ActivityRows.insert(ACTION, "c1", 1_000 + i));
    }
    await(database.commit(rows));

    List<ActivityStore.StoredActivity> all =
        await(new ActivityStore(database).listNewest(List.of("c1"), Optional.empty()));

    assertEquals(800, all.size());
    assertEquals(100, all.get(799).atMillis());
  }

  @Test
  void manyClustersTogetherAreReadFourHundredDeepNewestFirst() throws Exception {
    List<Statement> rows = new ArrayList<>();
    List<String> clusters = new ArrayList<>();
    for (int c = 0; c < 2 * ActivityStore.CLUSTERS_PER_READ + 1; c++) {
      clusters.add("c" + c);
      for (int i = 0; i < 3; i++) {
        rows.add(
            ActivityRows.insert(
                new Activity("x", new ClusterEvent.Declared(8, 100)), "c" + c, 1_000 * i + c));
      }
    }
    await(database.commit(rows));

    for (Optional<String> who : List.of(Optional.<String>empty(), Optional.of("user"))) {
      List<ActivityStore.StoredActivity> all =
          await(new ActivityStore(database).listNewest(clusters, who));

      assertEquals(400, all.size());
      List<Long> times = all.stream().map(ActivityStore.StoredActivity::atMillis).toList();
      assertEquals(times.stream().sorted(Comparator.reverseOrder()).toList(), times);
      assertEquals(2_000L + clusters.size() - 1, times.get(0));
      assertEquals(1_002, times.get(399));
    }
  }

  @Test
  void oneClustersNewestComeStraightFromAnIndexWithoutScanOrSort() throws Exception {
    for (boolean byOrigin : new boolean[] {false, true}) {
      List<String> plan = plan(1, byOrigin);

      assertEquals(1, plan.size(), plan.toString());
      assertTrue(plan.get(0).startsWith("SEARCH activity USING INDEX activity_of_"), plan.get(0));
    }
  }

  @Test
  void ofSeveralClustersEachIsSearchedByItsOwnIndexRange() throws Exception {
    for (boolean byOrigin : new boolean[] {false, true}) {
      List<String> plan = plan(ActivityStore.CLUSTERS_PER_READ, byOrigin);

      assertEquals(
          ActivityStore.CLUSTERS_PER_READ,
          plan.stream().filter(step -> step.startsWith("SEARCH activity USING INDEX")).count());
      assertTrue(plan.stream().noneMatch(step -> step.startsWith("SCAN activity")));
    }
  }

  private List<String> plan(int clusters, boolean byOrigin) throws Exception {
    List<String> parameters = Collections.nCopies(clusters * (byOrigin ? 3 : 2), "x");
    return await(
        database.read(
            "EXPLAIN QUERY PLAN " + ActivityStore.newestOfKind(clusters, byOrigin),
            parameters,
            row -> row.text("detail")));
  }

  @Test
  void everyFieldOfAPoolSurvives() throws Exception {
    assertEquals(List.of(Sample.POOL), await(new PoolStore(database).listPools()));
  }

  private void write(Activity entry, String cluster, long atMillis) throws Exception {
    await(database.commit(List.of(ActivityRows.insert(entry, cluster, atMillis))));
  }
}
