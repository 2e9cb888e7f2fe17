package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.MarketTransitions;
import dev.bourse.capacity.Sample;
import dev.bourse.nodes.Machine;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A pool's market and its machines, on a real store and with machines that misbehave. */
class MarketVerticleTest extends MarketFixture {
  private static final long MINUTE = 60_000;

  @Test
  void aDeclaredSlotIsGrantedPreparedWithTheClustersKeysAndActive() throws Exception {
    adopt(Sample.empty());
    await(market.start());
    declare(16);

    eventually("two active", () -> addresses(Allocation.State.ACTIVE).size() == 2);

    assertEquals(0, cluster().pending(8));
    assertEquals(List.of(KEY_LINE), nodes.keys.get(nodeId(0)));
    assertEquals(List.of("key_1"), cluster().allocations().get(0).keyIds());
    assertEquals(1, cluster().version());
    eventually("priced", () -> clusters.findQuote("h100").orElseThrow().clearingCents() != null);
    assertEquals(100L, clusters.findQuote("h100").orElseThrow().clearingCents());
  }

  @Test
  void aShrinkCleansTheMachineAndFreesIt() throws Exception {
    adopt(Sample.active(2));
    nodes.marks.putAll(Map.of("n0", "a0", "n1", "a1"));
    await(market.start());
    declare(8);

    eventually("one left", () -> cluster().allocations().size() == 1);

    assertEquals(Map.of("n0", "a0"), nodes.marks());
    eventually(
        "freed", () -> clusters.findQuote("h100").filter(q -> q.freeNodes() == 15).isPresent());
  }

  @Test
  void aGrantThatCannotBePreparedIsUnwoundAndAnotherMachineGranted() throws Exception {
    nodes.provisionsToFail.put("n0", 1);
    adopt(Sample.empty());
    await(market.start());
    declare(8);

    eventually("another", () -> addresses(Allocation.State.ACTIVE).equals(List.of(Sample.ip(1))));

    eventually("cleaned", () -> !nodes.marks().containsKey("n0"));
    assertEquals(0, cluster().setbacks().provisionFailures());
    assertEquals(List.of(1L), integers("SELECT failures FROM node WHERE node_id = 'n0'"));
    assertEquals(
        List.of(clock.millis() + MINUTE),
        integers("SELECT usable_after FROM node WHERE node_id = 'n0'"));
    assertEquals(
        List.of("grant of " + Sample.ip(0) + " unwound: the machine could not be prepared"),
        texts("SELECT note FROM activity WHERE note LIKE '%unwound%'"));
  }

  @Test
  void aMachineIsLeftAloneForItsBackOffThenGrantedAgain() throws Exception {
    onlyNode("n0");
    nodes.provisionsToFail.put("n0", 1);
    adopt(Sample.empty());
    await(market.start());
    declare(8);
    eventually("failed and cleaned", () -> nodes.count("reclaim n0") == 1 && noneHeld());
    ticks(5);
    assertEquals(1, nodes.count("provision n0"));
    assertEquals(1, cluster().pending(8));

    clock.advance(MINUTE);

    eventually("active", () -> addresses(Allocation.State.ACTIVE).size() == 1);
    eventually("healthy", () -> failuresOf("n0") == 0);
  }

  @Test
  void theFourthFailureInARowQuarantines() throws Exception {
    onlyNode("n0");
    nodes.provisionsToFail.put("n0", 99);
    adopt(Sample.empty());
    await(market.start());
    declare(8);
    for (int failures = 1; failures <= 4; failures++) {
      int count = failures;
      eventually("failure " + count, () -> nodes.count("reclaim n0") == count && noneHeld());
      clock.advance(4 * MINUTE);
    }
    assertEquals(
        List.of(1L), integers("SELECT COUNT(*) FROM node WHERE quarantined_at IS NOT NULL"));
    clock.advance(60 * MINUTE);
    ticks(5);
    assertEquals(4, nodes.count("provision n0"));
    eventually("told so", () -> Boolean.TRUE.equals(cluster().verdict().capacityUnavailable()));
    assertFalse(cluster().verdict().bidTooLow());
  }

  @Test
  void aMachineInWorkIsNotAskedTwice() throws Exception {
    nodes.hangs = true;
    adopt(Sample.empty());
    await(market.start());
    declare(8);
    eventually("asked", () -> nodes.count("provision n0") == 1);
    for (int i = 0; i < 5; i++) {
      declare(8);
    }
    ticks(5);

    assertEquals(1, nodes.count("provision n0"));
    assertEquals(List.of(Sample.ip(0)), addresses(Allocation.State.PROVISIONING));
  }

  @Test
  void aNodeReleasedWhileItIsPreparedIsCleanedAfterwards() throws Exception {
    nodes.hangs = true;
    adopt(Sample.empty());
    await(market.start());
    declare(8);
    eventually("asked", () -> nodes.count("provision n0") == 1);
    declare(0);
    ticks(3);
    assertEquals(0, nodes.count("reclaim n0"));

    answer();

    eventually("gone", () -> cluster().allocations().isEmpty());
    assertEquals(Map.of(), nodes.marks());
  }

  @Test
  void aMachineThatIsReadyOnlyAfterItsAllocationIsGoneIsCleanedAgain() throws Exception {
    nodes.hangs = true;
    adopt(Sample.empty());
    await(market.start());
    declare(8);
    eventually("asked", () -> nodes.count("provision n0") == 1);
    // Takes the lease, like a process that considers this one dead.
    await(
        database.commit(
            List.of(
                Statement.of("UPDATE allocation SET gone_at = 1"),
                Statement.of("UPDATE cluster SET revision = revision + 1, max_gpus = 0"))));

    answer();

    eventually("gone", () -> cluster().allocations().isEmpty());
    eventually("cleaned", () -> nodes.marks().isEmpty());
    assertEquals(1, nodes.count("reclaim n0"));
  }

  @Test
  void previewsWithoutTheLeaseShareAReadOfTheNodesUntilAnOperatorChangesThem() throws Exception {
    onlyNode("n0");
    adopt(Sample.empty());
    AtomicInteger reads = new AtomicInteger();
    database =
        new ForwardingDatabase(database) {
          @Override
          public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
            if (sql.contains("FROM node n WHERE n.pool = ?")) {
              reads.incrementAndGet();
            }
            return super.read(sql, parameters, mapper);
          }
        };
    TickRunner runner = new TickRunner(vertx, "h100", environment());
    for (int i = 0; i < 20; i++) {
      await(runner.preview(cluster(), Optional.empty(), clock.millis()));
    }
    assertTrue(reads.get() < 10, reads.get() + " reads of all nodes");

    int shared = reads.get();
    runner.forgetNodes();
    await(runner.preview(cluster(), Optional.empty(), clock.millis()));
    assertTrue(reads.get() > shared, "an operator changed them");
  }

  /** A process has the lease before it has read the nodes, which takes seconds in a large pool. */
  @Test
  void aPreviewWhileTheMarketIsTakenOverReadsTheNodesItself() throws Exception {
    adopt(Sample.empty());
    Promise<Void> begun = Promise.promise();
    Promise<Void> mayEnd = Promise.promise();
    database =
        new ForwardingDatabase(database) {
          @Override
          public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
            Future<List<T>> read = super.read(sql, parameters, mapper);
            return sql.contains("FROM node n WHERE n.pool = ?") && begun.tryComplete()
                ? mayEnd.future().compose(end -> read)
                : read;
          }
        };
    market = newMarket();
    await(market.start());
    await(begun.future());
    Cluster bidding =
        Capacity.declare(
                cluster(), Sample.order(8, "2", 0), Sample.TERMS, clock.millis() + Sample.CADENCE)
            .next();

    assertEquals(1, await(market.preview(bidding)).nodesWon());
    mayEnd.complete();
  }

  @Test
  void aMachinePreparedForNobodyIsCleanedBeforeItIsGranted() throws Exception {
    onlyNode("n0");
    nodes.marks.put("n0", "ghost");
    adopt(Sample.empty());
    ended("ghost");
    await(market.start());
    declare(8);

    eventually("active", () -> addresses(Allocation.State.ACTIVE).size() == 1);

    assertEquals(List.of("reclaim n0", "provision n0"), nodes.calls);
  }

  @Test
  void aMachineThatLostWhatItWasPreparedWithIsPreparedAgainHoweverOftenThatFails()
      throws Exception {
    nodes.provisionsToFail.put("n0", 2);
    Cluster before = Sample.active(1);
    adopt(before);
    await(market.start());

    eventually("prepared", () -> nodes.count("provision n0") == 3);

    assertEquals("a0", nodes.marks().get("n0"));
    assertEquals(Allocation.State.ACTIVE, cluster().find("a0").orElseThrow().state());
    assertEquals(List.of(0L), integers("SELECT failures FROM node WHERE node_id = 'n0'"));
  }

  @Test
  void aStartTakesUpWhatWasLeftUndone() throws Exception {
    nodes.marks.put("n1", "a1");
    Cluster left = Sample.provisioning(2);
    left = MarketTransitions.provisioned(left, "a1", 0, Sample.T0).next();
    left =
        Sample.settled(
                left,
                List.of(),
                List.of(new MarketTransitions.Orders.Taken("a1", Allocation.Reason.OUTBID)),
                Sample.T0)
            .next();
    adopt(left);
    await(market.start());

    eventually("active", () -> addresses(Allocation.State.ACTIVE).contains(Sample.ip(0)));
    eventually("cleaned", () -> cluster().find("a1").isEmpty());
  }

  @Test
  void aStopInTheMiddleOfAPreparationLeavesItForTheNextStart() throws Exception {
    nodes.hangs = true;
    adopt(Sample.empty());
    await(market.start());
    declare(8);
    eventually("asked", () -> nodes.count("provision n0") == 1);

    await(market.stop());
    await(nodes.close());
    await(database.commit(List.of()));

    assertEquals(List.of(Sample.ip(0)), addresses(Allocation.State.PROVISIONING));
    assertEquals(List.of(0L), integers("SELECT failures FROM node WHERE node_id = 'n0'"));

    nodes.hangs = false;
    market = newMarket();
    await(market.start());
    eventually("active", () -> addresses(Allocation.State.ACTIVE).equals(List.of(Sample.ip(0))));
  }

  /**
   * Moves the lease to another market, with a bid for the machine, while the machine is slowly
   * cleaned.
   */
  private void moveLeaseWhileCleaning() throws Exception {
    onlyNode("n0");
    nodes.marks.put("n0", "a0");
    nodes.slow.add("n0");
    adopt(Sample.active(1));
    await(market.start());
    declare(0);
    eventually("cleaning", () -> nodes.count("reclaim n0") == 1);

    await(market.stop());
    market = newMarket();
    await(market.start());
    declare(8);
    eventually("asked by the next", () -> nodes.count("busy n0") > 1);
  }

  /**
   * The lease moves while a machine is cleaned between two tenants; the first call answers late.
   */
  @Test
  void aFailOverInTheMiddleOfAHandoverGrantsNoMachineUnprovenAndLosesNone() throws Exception {
    moveLeaseWhileCleaning();
    ticks(5);
    assertEquals(0, nodes.count("provision n0"), "not proven yet");
    assertEquals(List.of(Sample.ip(0)), addresses(Allocation.State.RECLAIMING));

    nodes.finish("n0");
    eventually("granted", () -> addresses(Allocation.State.ACTIVE).equals(List.of(Sample.ip(0))));
    List<String> calls = List.copyOf(nodes.calls);
    assertEquals(2, nodes.count("reclaim n0"), "the next has the machine prove itself to it");
    assertTrue(calls.lastIndexOf("reclaim n0") < calls.indexOf("provision n0"), calls.toString());
    assertEquals(1, nodes.count("provision n0"));
    assertEquals(cluster().allocations().get(0).allocationId(), nodes.marks().get("n0"));
    assertEquals(List.of(), quarantined());
  }

  private List<String> quarantined() {
    try {
      return texts("SELECT node_id FROM node WHERE quarantined_at IS NOT NULL");
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** A machine that differs from its accepted baseline is not granted after a fail-over either. */
  @Test
  void aFailOverInTheMiddleOfAHandoverForgetsNoFault() throws Exception {
    moveLeaseWhileCleaning();
    nodes.changed.put("n0", 1);
    nodes.finish("n0");
    eventually("quarantined", () -> !quarantined().isEmpty());
    ticks(3);
    assertEquals(0, nodes.count("provision n0"));
  }

  /** One commit for each machine would take a thousand times as long. */
  @Test
  void aThousandMachinesAreGrantedByOneTickInOneCommit() throws Exception {
    List<Statement> machines = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      machines.add(
          NodeStore.insert(
              "h100", new Machine("m" + i, "10.1.%d.%d".formatted(i / 250, i % 250), 22, null), 1));
    }
    await(database.commit(machines));
    onlyNode(IntStream.range(0, 1_000).mapToObj(i -> "m" + i).toArray(String[]::new));
    nodes.hangs = true;
    adopt(Sample.empty());
    List<Integer> held = Collections.synchronizedList(new ArrayList<>());
    clusters.onPublished(cluster -> held.add(cluster.allocations().size()));
    await(market.start());
    eventually(
        "all are free",
        () -> clusters.findQuote("h100").filter(quote -> quote.freeNodes() == 1_000).isPresent());
    declare(8_000);
    // The listener is called after the state is visible.
    eventually("granted", () -> held.contains(1_000));
    assertEquals(List.of(0, 1_000), List.copyOf(held).stream().distinct().toList());
  }

  @Test
  void aSwapLandsOnAnotherMachineAndTheOldOneIsGrantedAgainWhenThereIsNoOther() throws Exception {
    onlyNode("n0", "n1", "n2");
    nodes.marks.put("n0", "a0");
    adopt(Sample.active(1));
    await(market.start());
    swap(Sample.ip(0));

    eventually(
        "landed",
        () ->
            addresses(Allocation.State.ACTIVE).equals(List.of(Sample.ip(1)))
                && cluster().allocations().size() == 1);

    declare(16);
    eventually("another", () -> addresses(Allocation.State.ACTIVE).size() == 2);
    assertEquals(0, nodes.count("provision n0"));
    declare(24);
    eventually("the old one", () -> addresses(Allocation.State.ACTIVE).size() == 3);
    assertEquals(1, nodes.count("provision n0"));
  }

  @Test
  void aMarketWhoseLeaseSomebodyTookWritesNothingMoreUnderTheOldOne() throws Exception {
    adopt(Sample.empty());
    await(market.start());
    eventually("ticking", () -> clusters.findQuote("h100").isPresent());
    long epoch = integers("SELECT epoch FROM lease").get(0);
    await(
        database.commit(
            List.of(Statement.of("UPDATE lease SET epoch = epoch + 1, owner = 'other'"))));
    declare(8);

    eventually("sought again", () -> epochIs(epoch + 2));
    eventually("granted", () -> addresses(Allocation.State.ACTIVE).size() == 1);
  }

  @Test
  void aStoreThatFailsForAWhileDelaysATickAndNoMore() throws Exception {
    adopt(Sample.empty());
    await(market.start());
    declare(8);
    failNextCommits(5);

    eventually("active", () -> addresses(Allocation.State.ACTIVE).size() == 1);
  }

  @Test
  void pricesAreStoredWhenTheyChangeAndNotAtEachTick() throws Exception {
    adopt(Sample.active(1));
    nodes.marks.put("n0", "a0");
    await(market.start());
    eventually("ticking", () -> clusters.findQuote("h100").isPresent());
    ticks(10);

    assertEquals(List.of(1L), integers("SELECT COUNT(*) FROM price_point"));
    assertTrue(integers("SELECT clearing_cents FROM price_point").contains(100L));
  }

  @Test
  void pricesOfAClockThatWasAheadAreNotInForce() throws Exception {
    clock.confirm(false);
    adopt(Sample.active(1));
    nodes.marks.put("n0", "a0");
    long before = clock.millis() - MINUTE;
    long ahead = clock.millis() + 3 * 24 * 60 * MINUTE;
    await(database.commit(List.of(priced(before, 150, 0), priced(ahead, 900, 1))));
    await(market.start());

    eventually(
        "stored at the present", () -> pricedAt().equals(List.of(before, clock.millis(), ahead)));
    String now = "SELECT %s FROM price_point WHERE ts = " + clock.millis();
    assertEquals(List.of(150L * MINUTE), integers(now.formatted("cents_millis")));
    assertEquals(List.of(100L), integers(now.formatted("clearing_cents")));
    ticks(5);
    assertEquals(List.of(before, clock.millis(), ahead), pricedAt(), "stored once");
  }

  @Test
  void pricesThatLieAheadAreCorrectedUnderARunningMarket() throws Exception {
    adopt(Sample.active(1));
    nodes.marks.put("n0", "a0");
    long ahead = clock.millis() + 3 * 24 * 60 * MINUTE;
    // The price that the market finds must not depend on the deleted point.
    await(database.commit(List.of(priced(ahead, 100, 0))));
    await(market.start());
    eventually("stored", () -> pricedAt().equals(List.of(clock.millis(), ahead)));

    await(new PriceCorrection(database).correct(clock.millis()));
    ticks(5);

    assertEquals(List.of(clock.millis()), pricedAt());
    assertEquals(List.of(100L), integers("SELECT clearing_cents FROM price_point"));
  }

  private static Statement priced(long atMillis, long cents, long sums) {
    return Statement.of(
        "INSERT INTO price_point (pool, ts, clearing_cents, admission_cents, cents_millis,"
            + " priced_millis) VALUES ('h100', ?, ?, ?, ?, ?)",
        atMillis,
        cents,
        cents,
        sums,
        sums);
  }

  @Test
  void aBackOffThatAClockSetBackWouldPutOffForDaysIsOver() throws Exception {
    onlyNode("n0");
    await(
        database.commit(
            List.of(
                Statement.of(
                    "UPDATE node SET failures = 1, usable_after = ? WHERE node_id = 'n0'",
                    clock.millis() + 3 * 24 * 60 * MINUTE))));
    adopt(Sample.empty());
    await(market.start());
    declare(8);

    eventually("active", () -> addresses(Allocation.State.ACTIVE).size() == 1);
  }

  private List<Long> pricedAt() {
    try {
      return integers("SELECT ts FROM price_point ORDER BY ts");
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private void answer() {
    synchronized (nodes) {
      nodes.hangs = false;
      List.copyOf(nodes.unanswered).forEach(promise -> promise.tryComplete());
    }
  }

  private boolean noneHeld() {
    return cluster().allocations().isEmpty();
  }

  private long failuresOf(String node) {
    try {
      return integers("SELECT failures FROM node WHERE node_id = '" + node + "'").get(0);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private boolean epochIs(long epoch) {
    try {
      return integers("SELECT epoch FROM lease").contains(epoch);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
