package dev.bourse.hardware;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.NodeAgent;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.Lapse;
import dev.bourse.capacity.NodeIdleness;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.pools.Switches;
import dev.bourse.schemas.vm.GpuMetricsJson;
import dev.bourse.store.Statement;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A cluster is idle only if what the processes recorded covers the whole time. */
class IdleReportsTest extends StoreFixture {
  private static final int MINUTE = 60;
  private static final long BEGIN = Sample.T0 + 120_000;

  private final Clusters clusters = new Clusters(new Switches(true, true, true), clock);
  private Cluster cluster = Sample.active(2);
  private IdleReports here;
  private IdleReports there;

  private IdleReports process() {
    return new IdleReports(
        clusters,
        new NodeIdleness(database),
        clock,
        () -> TimeUnit.MILLISECONDS.toNanos(clock.millis()));
  }

  @BeforeEach
  void setUp() {
    clusters.put(Sample.POOL);
    clock.advance(BEGIN - clock.millis());
    cluster =
        Capacity.declare(
                cluster,
                Sample.order(
                    16, "2", cluster.version(), new JsonObject().put("idle_release_after", "10m")),
                Sample.TERMS,
                clock.millis())
            .next();
    Sample.publish(clusters, cluster);
    here = process();
    there = process();
  }

  private static List<GpuMetricsJson> gpus(int count, @Nullable Integer percent) {
    return IntStream.range(0, count)
        .mapToObj(
            index ->
                new GpuMetricsJson(index, percent, null, null, null, null, null, null, null, null))
        .toList();
  }

  private void report(IdleReports process, int node, int percent, int idleSeconds)
      throws Exception {
    await(process.note(new NodeAgent("a" + node, "acme"), gpus(8, percent), idleSeconds));
  }

  private boolean isIdle() throws Exception {
    return Lapse.isIdle(
        cluster, await(new NodeIdleness(database).listFresh(clock.millis())), clock.millis());
  }

  private long rows() throws Exception {
    return integers("SELECT COUNT(*) FROM node_idleness").get(0);
  }

  @Test
  void bothNodesMustBeIdleForTheWholeTimeAndSayItWithinTwoMinutes() throws Exception {
    clock.advance(600_000);
    report(here, 0, 1, 10 * MINUTE);
    assertFalse(isIdle(), "the other node said nothing");
    report(there, 1, 1, 10 * MINUTE - 1);
    assertFalse(isIdle(), "the other node is idle for a second too short");
    clock.advance(1_000);
    report(there, 1, 1, 10 * MINUTE);
    assertTrue(isIdle());
    clock.advance(120_000);
    assertFalse(isIdle(), "the first node is silent");
    report(here, 0, 1, 12 * MINUTE);
    assertTrue(isIdle());
    assertEquals(
        List.of(Allocation.Reason.SCALE_DOWN, Allocation.Reason.SCALE_DOWN),
        Lapse.idle(await(new NodeIdleness(database).listFresh(clock.millis())))
            .apply(cluster, clock.millis())
            .next()
            .allocations()
            .stream()
            .map(a -> Objects.requireNonNull(a.reclaim()).reason())
            .toList());
  }

  @Test
  void idlenessBeforeTheWriteAndBeforeTheGrantDoesNotCount() throws Exception {
    clock.advance(599_000);
    report(here, 0, 0, 99 * MINUTE);
    report(here, 1, 0, 99 * MINUTE);
    assertFalse(isIdle());
    clock.advance(61_000);
    report(here, 0, 0, 100 * MINUTE);
    report(here, 1, 0, 100 * MINUTE);
    assertTrue(isIdle());
    // A node that is being prepared, and one that is active since a moment.
    Cluster grown = Sample.provisioning(3);
    assertFalse(
        Lapse.isIdle(
            grown, await(new NodeIdleness(database).listFresh(clock.millis())), clock.millis()));
  }

  @Test
  void aReportOfWorkToAnyProcessVoidsTheRecordOfAnother() throws Exception {
    clock.advance(600_000);
    report(there, 0, 50, 0);
    clock.advance(600_000);
    report(here, 0, 1, 10 * MINUTE);
    report(here, 1, 1, 10 * MINUTE);
    assertTrue(isIdle());
    clock.advance(10_000);
    report(there, 0, 50, 0);
    assertFalse(isIdle());
    clock.advance(10_000);
    report(here, 0, 1, 10);
    assertFalse(isIdle(), "a replayed report of the same idle time");
    clock.advance(590_000);
    report(here, 0, 1, 10 * MINUTE);
    report(here, 1, 1, 20 * MINUTE);
    assertTrue(isIdle(), "idle again for the whole time");
  }

  @Test
  void whatIsUnknownIsNotIdle() throws Exception {
    clock.advance(1_200_000);
    NodeAgent agent = new NodeAgent("a0", "acme");
    await(here.note(agent, gpus(7, 0), 20 * MINUTE));
    await(here.note(agent, gpus(8, null), 20 * MINUTE));
    await(here.note(agent, gpus(8, 2), 20 * MINUTE));
    await(here.note(agent, gpus(8, 0), null));
    report(here, 1, 0, 20 * MINUTE);
    assertFalse(isIdle());
    clock.confirm(false);
    report(here, 0, 0, 20 * MINUTE);
    assertFalse(isIdle(), "a clock in doubt");
    clock.confirm(true);
    report(here, 0, 0, 20 * MINUTE);
    assertFalse(isIdle(), "it was not idle a moment ago");
  }

  @Test
  void aNodeThatWorksOrWhoseClusterKeepsIdleNodesWritesNothing() throws Exception {
    for (int more = 0; more < 100; more++) {
      report(here, 0, 90, 0);
      clock.advance(26_000);
    }
    assertEquals(1, rows());
    await(database.commit(List.of(Statement.of("DELETE FROM node_idleness"))));
    report(here, 0, 90, 0);
    assertEquals(0, rows(), "the first record is remembered");
    Sample.publish(clusters, Sample.revised(Sample.active(2), cluster.revision() + 1));
    report(there, 1, 90, 0);
    report(there, 1, 0, 20 * MINUTE);
    assertEquals(0, rows());
  }
}
