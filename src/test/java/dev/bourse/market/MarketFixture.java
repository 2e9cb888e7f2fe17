package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.capacity.ExchangeFixture;
import dev.bourse.capacity.Holds;
import dev.bourse.capacity.Sample;
import dev.bourse.pools.Pool;
import dev.bourse.signals.Signals;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A market of pool h100 on a real store, with machines that misbehave. It is not open at first. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
abstract class MarketFixture extends ExchangeFixture {
  private static final long TICK_MILLIS = 10;

  /** Long enough that it does not expire on a slow machine. */
  private static final long LEASE_MILLIS = 12_000;

  protected final FakeNodes nodes = new FakeNodes();
  protected MarketService market;

  /** How far the market's monotonic clock is ahead of the machine's. */
  protected final AtomicLong aheadNanos = new AtomicLong();

  @BeforeEach
  void prepareMarket() {
    market = newMarket();
  }

  @AfterEach
  void noCallWasOutOfPlace() throws Exception {
    await(market.stop());
    await(nodes.close());
    assertEquals(List.of(), nodes.faults());
  }

  /** Returns the interval of probes, in milliseconds. */
  protected long probeMillis() {
    return 100;
  }

  /** Returns the length of notices, in milliseconds. */
  protected long noticeMillis() {
    return 0;
  }

  protected final MarketService newMarket() {
    return new MarketService(vertx, Map.of("simulated", nodes), environment(), new Signals());
  }

  protected final MarketEnvironment environment() {
    return new MarketEnvironment(
        database,
        clusters,
        owners,
        keys,
        Spending.UNLIMITED,
        orgId -> Future.succeededFuture(new Holds.Reading(null, List.of())),
        new MarketConfig(
            TICK_MILLIS,
            Sample.PROTECTION,
            noticeMillis(),
            LEASE_MILLIS,
            Sample.FRESHNESS,
            600_000,
            probeMillis()),
        clock,
        clock,
        () -> System.nanoTime() + aheadNanos.get(),
        new Random(7),
        "process_test");
  }

  /** Cordons all other nodes. */
  protected final void onlyNode(String... usable) throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of(
                    "UPDATE node SET cordoned = 1 WHERE node_id NOT IN ('"
                        + String.join("', '", usable)
                        + "')"))));
  }

  /** Stores ended allocations of the cluster, so that machines may have their marks. */
  protected final void ended(String... allocationIds) throws Exception {
    for (String id : allocationIds) {
      await(
          database.commit(
              List.of(
                  Statement.guarded(
                      () -> new IllegalStateException("no cluster"),
                      """
                      INSERT INTO allocation (allocation_id, cluster, node_id, slot, state,
                      granted_at, grant_ceiling_cents, pinned, nomination, key_ids, gone_at)
                      SELECT ?, c.name, n.node_id, 0, 'RECLAIMING', 1, 100, 0, 0, '[]', 1
                      FROM cluster c CROSS JOIN node n WHERE n.node_id = 'n0'\
                      """,
                      id))));
    }
  }

  /** Waits for at least a number of ticks; each publishes a new quote. */
  protected final void ticks(int count) throws InterruptedException {
    for (int i = 0; i < count; i++) {
      Object last = clusters.findQuote("h100").orElse(null);
      eventually("tick", () -> clusters.findQuote("h100").orElse(null) != last);
    }
  }

  /** Returns the sample pool with tenants that have root rights. */
  static Pool rootPool() {
    return Sample.POOL.with(
        p -> p.rules(new Pool.Rules(true, true, false, Pool.Tenants.ROOT, null)));
  }
}
