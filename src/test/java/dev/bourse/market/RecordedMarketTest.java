package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.capacity.TickPreview;
import dev.bourse.events.PriceHistory;
import dev.bourse.pools.Demand;
import dev.bourse.pools.Pool;
import dev.bourse.pools.Quote;
import dev.bourse.pools.Rivalry;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The exact text of the market's answers, with a distinct value in each member, so that values that
 * change places are found. A member that is added to the contract is added here as well; a change
 * of the recorded text changes the interface.
 */
@Tag("fast")
class RecordedMarketTest {
  private static final long T0 = 1_700_000_000_000L;

  private static final Quote QUOTE =
      new Quote(
          155L,
          Map.of("acme", 120L),
          160L,
          16,
          12,
          T0,
          T0 + 10_000,
          new Demand(List.of(new Demand.Level(338, 2), new Demand.Level(122, 5_000_000_000L))),
          Rivalry.NONE);

  private static Pool pool(String name, @Nullable String model, Pool.@Nullable Pause pause) {
    return new Pool(
        name,
        "site-1",
        "simulated",
        new Pool.Hardware("NVIDIA", model, 8),
        new Pool.Bounds(100, 123_456_789_012L),
        new Pool.Rules(true, true, false, Pool.Tenants.LOGIN, null),
        pause,
        new Pool.Environment("tenant", 2222, Map.of(), Map.of()));
  }

  @Test
  void theFeed() {
    List<PoolQuote> quotes =
        List.of(
            PoolQuote.of(pool("h100", "H\"100\"", new Pool.Pause(T0 + 77, "op", "é\n")), QUOTE),
            PoolQuote.of(pool("new", null, null), null));
    assertEquals(
        """
        {"pools":[{"pool":"h100","site":"site-1","gpu_vendor":"NVIDIA",\
        "gpu_model":"H\\"100\\"","gpus_per_node":8,"clearing_price_per_gpu_hour":1.55,\
        "admission_price_per_gpu_hour":1.6,"reserve_price_per_gpu_hour":1.0,\
        "max_price_cap_per_gpu_hour":1.23456789012E9,"usable_nodes":16,"free_nodes":12,\
        "demand_nodes":5000000000,"paused_since":"2023-11-14T22:13:20.077Z",\
        "pause_reason":"é\\n","tick_at":"2023-11-14T22:13:20.000Z",\
        "next_tick_at":"2023-11-14T22:13:30.000Z"},{"pool":"new","site":"site-1",\
        "gpu_vendor":"NVIDIA","gpu_model":null,"gpus_per_node":8,\
        "clearing_price_per_gpu_hour":null,"admission_price_per_gpu_hour":null,\
        "reserve_price_per_gpu_hour":1.0,"max_price_cap_per_gpu_hour":1.23456789012E9,\
        "usable_nodes":0,"free_nodes":0,"demand_nodes":0,"paused_since":null,\
        "pause_reason":null,"tick_at":null,"next_tick_at":null}]}\
        """,
        PoolQuote.feed(quotes).toBuffer().toString());
  }

  @Test
  void theDepth() {
    assertEquals(
        """
        {"pool":"h100","usable_nodes":16,"free_nodes":12,"demand_nodes":5000000000,\
        "levels":[{"price_per_gpu_hour":3.38,"nodes":2},{"price_per_gpu_hour":1.22,\
        "nodes":5000000000}],"tick_at":"2023-11-14T22:13:20.000Z",\
        "next_tick_at":"2023-11-14T22:13:30.000Z"}\
        """,
        PoolQuote.of(pool("h100", null, null), QUOTE).depth().toBuffer().toString());
  }

  @Test
  void theDepthBeforeTheFirstTick() {
    assertEquals(
        """
        {"pool":"new","usable_nodes":0,"free_nodes":0,"demand_nodes":0,"levels":[],\
        "tick_at":null,"next_tick_at":null}\
        """,
        PoolQuote.of(pool("new", null, null), null).depth().toBuffer().toString());
  }

  @Test
  void theHistory() {
    PriceHistory past =
        new PriceHistory(
            T0 / 1000, 60, Arrays.asList(null, 100.0, 133.33333333), Arrays.asList(1L, null, 150L));
    assertEquals(
        """
        {"pool":"h100","t0":1700000000,"step":60,"clearing_price":[null,1.0,1.333333],\
        "admission_price":[0.01,null,1.5]}\
        """,
        past.toJson("h100").toBuffer().toString());
  }

  @Test
  void aQuote() {
    TickPreview tick =
        new TickPreview(3, 2, 1, null, Set.of(), Map.of(), 155L, 160L, true, T0 + 10_000);
    assertEquals(
        """
        {"pool":"h100","gpus":32,"price_per_gpu_hour":2.5,"nodes_won":3,"nodes_granted":2,\
        "nodes_unfilled":1,"nodes_left":7,"clearing_price_per_gpu_hour":1.55,\
        "admission_price_per_gpu_hour":1.6,"rival_price_per_gpu_hour":2.18,\
        "cost_per_hour":37.2,"paused":true,"tick_at":"2023-11-14T22:13:30.000Z"}\
        """,
        new BidQuote(pool("h100", null, null), 32, 250, tick, 7, 218)
            .toJson()
            .toBuffer()
            .toString());
  }

  @Test
  void aQuoteWithoutPrices() {
    TickPreview tick =
        new TickPreview(0, 0, 4, null, Set.of(), Map.of(), null, null, false, T0 + 10_000);
    assertEquals(
        """
        {"pool":"h100","gpus":32,"price_per_gpu_hour":2.5,"nodes_won":0,"nodes_granted":0,\
        "nodes_unfilled":4,"nodes_left":0,"clearing_price_per_gpu_hour":null,\
        "admission_price_per_gpu_hour":null,"rival_price_per_gpu_hour":null,\
        "cost_per_hour":0.0,"paused":false,"tick_at":"2023-11-14T22:13:30.000Z"}\
        """,
        new BidQuote(pool("h100", null, null), 32, 250, tick, 0, 0).toJson().toBuffer().toString());
  }
}
