package dev.bourse.capacity;

import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static dev.bourse.capacity.Sample.active;
import static dev.bourse.capacity.Sample.empty;
import static dev.bourse.capacity.Sample.granted;
import static dev.bourse.capacity.Sample.ip;
import static dev.bourse.capacity.Sample.order;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.FakeClock;
import dev.bourse.nodes.Health;
import dev.bourse.pools.Pool;
import dev.bourse.pools.Quote;
import dev.bourse.pools.Switches;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The exact text of the capacity's answers, with a distinct value in each member, so that values
 * that change places are found. A member that is added to the contract is added here as well; a
 * change of what is recorded changes the interface.
 */
@Tag("fast")
class RecordedAnswersTest {
  private static final long LATER = T0 + 600_000;

  /** A cluster with all conditions, a swap, a notice, a fault and a hold. */
  private static Cluster full() {
    Cluster cluster = Capacity.swap(active(3), Sample.ACTOR, ip(1), TERMS, LATER).next();
    cluster =
        Capacity.declare(
                cluster,
                order(
                    32,
                    "2.35",
                    2L,
                    new JsonObject()
                        .put("min_gpus", 16)
                        .put("until", "2023-11-15T22:13:20Z")
                        .put("max_spend_usd", 120.5)
                        .put("auto_swap", true)
                        .put("release", new JsonArray().add(ip(0)))),
                TERMS,
                LATER + 10_000)
            .next();
    cluster = granted(cluster, 5, "a1", LATER + 20_000);
    List<Allocation> held = new ArrayList<>(cluster.allocations());
    held.set(
        0,
        held.get(0)
            .with(
                a -> {
                  a.notice = new Allocation.Notice(Allocation.Reason.OUTBID, LATER + 99_000);
                  a.health =
                      new HeldHealth(
                          Health.State.FAILED, LATER, List.of("GPU 3 \"lost\"", "é\n"), true);
                }));
    held.set(2, held.get(2).with(a -> a.publicIp = null));
    Cluster.Draft draft = cluster.withAllocations(held).draft();
    Declaration declared = Sample.declaration(cluster);
    draft.declared =
        declared.with(
            d ->
                d.ceiling =
                    new Declaration.Ceiling(
                        declared.ceilingCents(), declared.pricedAtMillis(), LATER + 11_000));
    return DirectChange.hold(new Hold(Hold.Stage.NOTICE, "unpaid", T0 + 700_077))
        .apply(draft.build(), LATER)
        .next();
  }

  private static ClusterView view(Cluster cluster) {
    Pool pool =
        new Pool(
            "h100",
            "site-1",
            "simulated",
            new Pool.Hardware("NVIDIA", null, 8),
            new Pool.Bounds(100, 123_456_789_012L),
            new Pool.Rules(true, true, false, Pool.Tenants.LOGIN, null),
            null,
            new Pool.Environment("tenant", 2222, Map.of("A", "\"b\\\t€"), Map.of()));
    return Sample.view(
        cluster,
        pool,
        () -> new Quote(155L, null, 4, 2, T0, T0 + 10_000),
        new Switches(true, true, false),
        new FakeClock(T0));
  }

  private static String state(Cluster cluster) {
    return view(cluster).encoded().json().toString();
  }

  @Test
  void theStateOfAnEmptyCluster() {
    assertEquals(
        """
        {"cluster":"c1","version":0,"writes_armed":true,"gpus_per_node":8,"gpu_vendor":\
        "NVIDIA","gpu_model":null,"max_price_cap_per_gpu_hour":1.23456789012E9,"pool":{"pool":\
        "h100","site":"site-1","clearing_price_per_gpu_hour":1.55,\
        "admission_price_per_gpu_hour":null,"reserve_price_per_gpu_hour":1.0,\
        "max_price_cap_per_gpu_hour":1.23456789012E9},"declared":null,"ranks_last_until":null,\
        "pending":0,"allocations":[],"planned_release":[],"nominations":[],"swaps":[],\
        "billing_hold":null,"spend_limit_enforced":true,"billing_hold_enforced":false,\
        "environment":{"ssh_user":"tenant","ssh_port":2222,"site":"site-1","env":{"A":\
        "\\"b\\\\\\t€"},"storage":{}}}\
        """,
        state(empty()));
  }

  @Test
  void theStateWithEverything() {
    assertEquals(
        """
        {"cluster":"c1","version":3,"writes_armed":true,"gpus_per_node":8,"gpu_vendor":\
        "NVIDIA","gpu_model":null,"max_price_cap_per_gpu_hour":1.23456789012E9,"pool":{"pool":\
        "h100","site":"site-1","clearing_price_per_gpu_hour":1.55,\
        "admission_price_per_gpu_hour":null,"reserve_price_per_gpu_hour":1.0,\
        "max_price_cap_per_gpu_hour":1.23456789012E9},"declared":{"max_price_per_gpu_hour":\
        2.35,"max_gpus":32,"bid_too_low":false,"capacity_unavailable":null,"effective_at":\
        "2023-11-14T22:23:31.000Z","updated_at":"2023-11-14T22:23:30.000Z","updated_by":\
        "token:abc","min_gpus":16,"until":"2023-11-15T22:13:20.000Z","max_spend_usd":120.5,\
        "max_spend_since":"2023-11-14T22:23:30.000Z","auto_swap":true},"ranks_last_until":\
        null,"pending":1,"allocations":[{"public_ip":"10.0.0.0","granted_at":"2023-11-14T22:\
        13:21.000Z","state":"active","slot":0,"swap":false,"protected_until":"2023-11-14T23:\
        14:20.000Z","reclaim_at":"2023-11-14T22:24:59.000Z","reclaim_reason":"outbid",\
        "health":{"state":"failed","since":"2023-11-14T22:23:20.000Z","reasons":[\
        "GPU 3 \\"lost\\"","é\\n"]}},{"public_ip":"10.0.0.1","granted_at":"2023-11-14T22:13:\
        22.000Z","state":"active","slot":1,"swap":true,"protected_until":"2023-11-14T23:14:\
        20.000Z","reclaim_at":null,"reclaim_reason":null,"health":{"state":"unknown","since":\
        "2023-11-14T22:13:22.000Z","reasons":[]}},{"public_ip":null,"granted_at":\
        "2023-11-14T22:13:23.000Z","state":"active","slot":2,"swap":false,"protected_until":\
        "2023-11-14T23:14:20.000Z","reclaim_at":null,"reclaim_reason":null,"health":{"state":\
        "unknown","since":"2023-11-14T22:13:23.000Z","reasons":[]}},{"public_ip":"10.0.0.5",\
        "granted_at":"2023-11-14T22:23:40.000Z","state":"provisioning","slot":1,"swap":false,\
        "protected_until":null,"reclaim_at":null,"reclaim_reason":null,"health":{"state":\
        "unknown","since":"2023-11-14T22:23:40.000Z","reasons":[]}}],"planned_release":[\
        "10.0.0.0","10.0.0.1"],"nominations":["10.0.0.0","10.0.0.1"],"swaps":["10.0.0.1"],\
        "billing_hold":{"state":"hold","reason":"unpaid","stage":"notice","enforce_after_ms":\
        700077},"spend_limit_enforced":true,"billing_hold_enforced":false,"environment":{\
        "ssh_user":"tenant","ssh_port":2222,"site":"site-1","env":{"A":"\\"b\\\\\\t€"},\
        "storage":{}}}\
        """,
        state(full()));
  }

  @Test
  void aGraceHasNoStage() {
    Cluster grace =
        DirectChange.hold(new Hold(Hold.Stage.GRACE, "unpaid", null)).apply(active(1), T0).next();
    assertEquals(
        """
        {"cluster":"c1","version":1,"writes_armed":true,"gpus_per_node":8,"gpu_vendor":\
        "NVIDIA","gpu_model":null,"max_price_cap_per_gpu_hour":1.23456789012E9,"pool":{"pool":\
        "h100","site":"site-1","clearing_price_per_gpu_hour":1.55,\
        "admission_price_per_gpu_hour":null,"reserve_price_per_gpu_hour":1.0,\
        "max_price_cap_per_gpu_hour":1.23456789012E9},"declared":{"max_price_per_gpu_hour":\
        2.0,"max_gpus":8,"bid_too_low":false,"capacity_unavailable":null,"effective_at":\
        "2023-11-14T22:13:20.000Z","updated_at":"2023-11-14T22:13:20.000Z","updated_by":\
        "token:abc","min_gpus":null,"until":null,"max_spend_usd":null,"max_spend_since":null,\
        "auto_swap":false},"ranks_last_until":null,"pending":0,"allocations":[{"public_ip":\
        "10.0.0.0","granted_at":"2023-11-14T22:13:21.000Z","state":"active","slot":0,"swap":\
        false,"protected_until":"2023-11-14T23:14:20.000Z","reclaim_at":null,"reclaim_reason":\
        null,"health":{"state":"unknown","since":"2023-11-14T22:13:21.000Z","reasons":[]}}],\
        "planned_release":["10.0.0.0"],"nominations":[],"swaps":[],"billing_hold":{"state":\
        "grace","reason":"unpaid"},"spend_limit_enforced":true,"billing_hold_enforced":false,\
        "environment":{"ssh_user":"tenant","ssh_port":2222,"site":"site-1","env":{"A":\
        "\\"b\\\\\\t€"},"storage":{}}}\
        """,
        state(grace));
  }

  private static Preview preview(ClusterView state) {
    Cluster cluster = full();
    Allocation node = cluster.allocations().get(0);
    TickPreview tick =
        new TickPreview(
            3,
            2,
            1,
            TickPreview.MinimumMissed.PRICE,
            Set.of(),
            Map.of(),
            155L,
            null,
            false,
            LATER + 30_000);
    List<Preview.Loss> losses =
        List.of(
            new Preview.Loss(node, Preview.Loss.By.WRITE, OptionalLong.empty()),
            new Preview.Loss(
                cluster.allocations().get(2), Preview.Loss.By.NOTICE, OptionalLong.of(LATER)));
    return new Preview(null, new Preview.Expected(state, tick, losses, List.of(node), 123_400));
  }

  @Test
  void aPreview() {
    assertEquals(
        """
        {"would_refuse":null,"state":{"cluster":"c1","version":0,"writes_armed":true,\
        "gpus_per_node":8,"gpu_vendor":"NVIDIA","gpu_model":null,"max_price_cap_per_gpu_hour":\
        1.23456789012E9,"pool":{"pool":"h100","site":"site-1","clearing_price_per_gpu_hour":\
        1.55,"admission_price_per_gpu_hour":null,"reserve_price_per_gpu_hour":1.0,\
        "max_price_cap_per_gpu_hour":1.23456789012E9},"declared":null,"ranks_last_until":null,\
        "pending":0,"allocations":[],"planned_release":[],"nominations":[],"swaps":[],\
        "billing_hold":null,"spend_limit_enforced":true,"billing_hold_enforced":false,\
        "environment":{"ssh_user":"tenant","ssh_port":2222,"site":"site-1","env":{"A":\
        "\\"b\\\\\\t€"},"storage":{}}},"nodes_won":3,"nodes_granted":2,"nodes_unfilled":1,\
        "minimum_missed":"price","victims":["10.0.0.0"],"noticed":[],"losses":[{"public_ip":\
        "10.0.0.0","by":"write","reclaim_at":null,"protected_until":"2023-11-14T23:14:\
        20.000Z"},{"public_ip":null,"by":"notice","reclaim_at":"2023-11-14T22:23:20.000Z",\
        "protected_until":"2023-11-14T23:14:20.000Z"}],"unprotected":[{"public_ip":"10.0.0.0",\
        "protected_until":"2023-11-14T23:14:20.000Z"}],"clearing_price_per_gpu_hour":1.55,\
        "admission_price_per_gpu_hour":null,"cost_per_hour":1234.0,"worst_case_usd":null,\
        "paused":false,"tick_at":"2023-11-14T22:23:50.000Z"}\
        """,
        preview(view(empty())).toJson().toBuffer().toString());
  }

  @Test
  void aRefusedPreview() {
    ApiException refusal =
        ApiException.of(ErrorCode.PRICE_ABOVE_MAXIMUM, "too \"high\"")
            .with("maximum", 10.0)
            .with("limit", "max_\"gpus\"")
            .with("retry_after_s", 1L << 40)
            .with("offset", 7);
    assertEquals(
        """
        {"would_refuse":{"error":"price-above-maximum","detail":"too \\"high\\"","maximum":\
        10.0,"limit":"max_\\"gpus\\"","retry_after_s":1099511627776,"offset":7},"state":null,"nodes_won":null,"nodes_granted":null,"nodes_unfilled":null,\
        "minimum_missed":null,"victims":[],"noticed":[],"losses":[],"unprotected":[],\
        "clearing_price_per_gpu_hour":null,"admission_price_per_gpu_hour":null,\
        "cost_per_hour":null,"worst_case_usd":null,"paused":null,"tick_at":null}\
        """,
        new Preview(refusal, null).toJson().toBuffer().toString());
  }

  private static Outlook outlook() {
    Cluster cluster = full();
    return new Outlook(
        LATER,
        true,
        List.of(
            new Outlook.ExpectedLoss(
                cluster.allocations().get(0), Outlook.Cause.MARKET, LATER + 10),
            new Outlook.ExpectedLoss(cluster.allocations().get(2), Outlook.Cause.UNWOUND, null)),
        null,
        3,
        250L);
  }

  @Test
  void anOutlook() {
    assertEquals(
        """
        {"cluster":"c1","tick_at":"2023-11-14T22:23:20.000Z","paused":true,"safe_until":\
        "2023-11-14T22:23:20.010Z","losses":[{"public_ip":"10.0.0.0","by":"market",\
        "reclaim_at":"2023-11-14T22:23:20.010Z","protected_until":"2023-11-14T23:14:20.000Z"},\
        {"public_ip":null,"by":"unwound","reclaim_at":null,"protected_until":"2023-11-14T23:\
        14:20.000Z"}],"keep_price_per_gpu_hour":null,"pending_nodes":3,\
        "pending_price_per_gpu_hour":2.5}\
        """,
        outlook().toJson("c1").toBuffer().toString());
  }

  @Test
  void aKubernetesClusterWithEverything() {
    assertEquals(
        """
        {"cluster":"c1","version":3,"posture":"market","gpu_vendor":"NVIDIA","gpu_model":null,\
        "gpus_per_node":8,"nodes_held":4,"nodes_pending":1,"pool":{"pool":"h100","site":"site-1",\
        "clearing_price_per_gpu_hour":1.55,"admission_price_per_gpu_hour":null,\
        "reserve_price_per_gpu_hour":1.0,"max_price_cap_per_gpu_hour":1.23456789012E9},"bid":{\
        "limit_price_per_gpu_hour":2.35,"max_gpus":32,"bid_too_low":false,"capacity_unavailable":\
        null,"effective_at":"2023-11-14T22:23:31.000Z","updated_at":"2023-11-14T22:23:30.000Z",\
        "updated_by":"token:abc","min_gpus":16,"until":"2023-11-15T22:13:20.000Z","max_spend_usd":\
        120.5,"max_spend_since":"2023-11-14T22:23:30.000Z","auto_swap":true},"ranks_last_until":\
        null,"billing_hold":{"state":"hold","reason":"unpaid","stage":"notice","enforce_after_ms":\
        700077},"nodes":[{"name":"n0","state":"active","granted_at":"2023-11-14T22:13:21.000Z",\
        "swap":false,"protected_until":"2023-11-14T23:14:20.000Z","reclaim_at":"2023-11-14T22:24:\
        59.000Z","reclaim_reason":"outbid","health":{"state":"failed","since":"2023-11-14T22:23:\
        20.000Z","reasons":["GPU 3 \\"lost\\"","é\\n"]}},{"name":"n1","state":"active",\
        "granted_at":"2023-11-14T22:13:22.000Z","swap":true,"protected_until":"2023-11-14T23:14:\
        20.000Z","reclaim_at":null,"reclaim_reason":null,"health":{"state":"unknown","since":\
        "2023-11-14T22:13:22.000Z","reasons":[]}},{"name":"n2","state":"active","granted_at":\
        "2023-11-14T22:13:23.000Z","swap":false,"protected_until":"2023-11-14T23:14:20.000Z",\
        "reclaim_at":null,"reclaim_reason":null,"health":{"state":"unknown","since":"2023-11-14T22:\
        13:23.000Z","reasons":[]}},{"name":"n5","state":"provisioning","granted_at":"2023-11-14T22:\
        23:40.000Z","swap":false,"protected_until":null,"reclaim_at":null,"reclaim_reason":null,\
        "health":{"state":"unknown","since":"2023-11-14T22:23:40.000Z","reasons":[]}}],\
        "planned_release":["n0","n1","n2"],"nominations":["n0","n1"],"swaps":["n1"]}\
        """,
        state(Sample.onK8s(full())));
  }

  @Test
  void anEmptyKubernetesCluster() {
    assertEquals(
        """
        {"cluster":"c1","version":0,"posture":"market","gpu_vendor":"NVIDIA","gpu_model":null,\
        "gpus_per_node":8,"nodes_held":0,"nodes_pending":0,"pool":{"pool":"h100","site":"site-1",\
        "clearing_price_per_gpu_hour":1.55,"admission_price_per_gpu_hour":null,\
        "reserve_price_per_gpu_hour":1.0,"max_price_cap_per_gpu_hour":1.23456789012E9},"bid":null,\
        "ranks_last_until":null,"billing_hold":null,"nodes":[],"planned_release":[],"nominations":[\
        ],"swaps":[]}\
        """,
        state(Sample.onK8s(empty())));
  }

  @Test
  void aBid() {
    assertEquals(
        """
        {"cluster":"c1","version":3,"gpus_per_node":8,"bid":{"limit_price_per_gpu_hour":2.35,\
        "max_gpus":32,"bid_too_low":false,"capacity_unavailable":null,"effective_at":\
        "2023-11-14T22:23:31.000Z","updated_at":"2023-11-14T22:23:30.000Z","updated_by":"token:\
        abc","min_gpus":16,"until":"2023-11-15T22:13:20.000Z","max_spend_usd":120.5,\
        "max_spend_since":"2023-11-14T22:23:30.000Z","auto_swap":true},"billing_hold":{"state":\
        "hold","reason":"unpaid","stage":"notice","enforce_after_ms":700077},"pool":{"pool":"h100",\
        "site":"site-1","clearing_price_per_gpu_hour":1.55,"admission_price_per_gpu_hour":null,\
        "reserve_price_per_gpu_hour":1.0,"max_price_cap_per_gpu_hour":1.23456789012E9}}\
        """,
        K8sText.bid(view(Sample.onK8s(full()))).toBuffer().toString());
  }

  @Test
  void theMetricsOfAKubernetesCluster() {
    assertEquals(
        """
        {"cluster":"c1","nodes_held":4,"nodes_active":3,"nodes_pending":1,"gpus":32,"utilisation":\
        null}\
        """,
        K8sText.metrics(view(Sample.onK8s(full())), OptionalDouble.empty()).toBuffer().toString());
  }

  @Test
  void theSummaryOfAKubernetesCluster() {
    assertEquals(
        """
        {"cluster":"c1","version":3,"posture":"market","gpu_vendor":"NVIDIA","gpu_model":null,\
        "gpus_per_node":8,"nodes_held":4,"nodes_pending":1}\
        """,
        K8sText.summary(view(Sample.onK8s(full()))).toBuffer().toString());
  }

  @Test
  void thePreviewOfABid() {
    assertEquals(
        """
        {"would_refuse":null,"state":{"cluster":"c1","version":0,"posture":"market","gpu_vendor":\
        "NVIDIA","gpu_model":null,"gpus_per_node":8,"nodes_held":0,"nodes_pending":0,"pool":{\
        "pool":"h100","site":"site-1","clearing_price_per_gpu_hour":1.55,\
        "admission_price_per_gpu_hour":null,"reserve_price_per_gpu_hour":1.0,\
        "max_price_cap_per_gpu_hour":1.23456789012E9},"bid":null,"ranks_last_until":null,\
        "billing_hold":null,"nodes":[],"planned_release":[],"nominations":[],"swaps":[]},\
        "nodes_won":3,"nodes_granted":2,"nodes_unfilled":1,"minimum_missed":"price","victims":[\
        "n0"],"noticed":["n2"],"losses":[{"name":"n0","by":"write","reclaim_at":null,\
        "protected_until":"2023-11-14T23:14:20.000Z"},{"name":"n2","by":"notice","reclaim_at":\
        "2023-11-14T22:23:20.000Z","protected_until":"2023-11-14T23:14:20.000Z"}],"unprotected":[{\
        "name":"n0","protected_until":"2023-11-14T23:14:20.000Z"}],"clearing_price_per_gpu_hour":\
        1.55,"admission_price_per_gpu_hour":null,"cost_per_hour":1234.0,"worst_case_usd":null,\
        "paused":false,"tick_at":"2023-11-14T22:23:50.000Z"}\
        """,
        K8sText.preview(preview(view(Sample.onK8s(empty())))).toBuffer().toString());
  }

  @Test
  void theOutlookOfABid() {
    assertEquals(
        """
        {"cluster":"c1","tick_at":"2023-11-14T22:23:20.000Z","paused":true,"safe_until":\
        "2023-11-14T22:23:20.010Z","losses":[{"name":"n0","by":"market","reclaim_at":\
        "2023-11-14T22:23:20.010Z","protected_until":"2023-11-14T23:14:20.000Z"},{"name":"n2","by":\
        "unwound","reclaim_at":null,"protected_until":"2023-11-14T23:14:20.000Z"}],\
        "keep_price_per_gpu_hour":null,"pending_nodes":3,"pending_price_per_gpu_hour":2.5}\
        """,
        K8sText.outlook("c1", outlook()).toBuffer().toString());
  }

  @Test
  void alerts() {
    Cluster.Draft draft = empty().draft();
    draft.alerts =
        new Alerts(
            new Alerts.Thresholds(10, 12_345L, null, 1L, 90_000L),
            Set.of(Alerts.Kind.SPEND, Alerts.Kind.RIVAL));
    assertEquals(
        """
        {"cluster":"c1","rival_within_percent":10,"price_above_per_gpu_hour":123.45,\
        "supply_under_nodes":null,"spend_above_usd":0.01,"lease_ends_within_s":90,"raised":[\
        "rival","spend"]}\
        """,
        AlertText.toJson(draft.build()).toBuffer().toString());
  }

  @Test
  void aSwap() {
    assertEquals(
        """
        {"cluster":"c1","node":"10.0.0.1","state":"swapping","requested_at":\
        "2023-11-14T22:13:20.000Z","lapses_at":"2023-11-14T22:23:20.000Z","version":9}\
        """,
        CapacityRoutes.toJson(new CapacityService.Swap("c1", "10.0.0.1", T0, LATER, 9))
            .toBuffer()
            .toString());
  }

  @Test
  void aDrill() {
    assertEquals(
        """
        {"cluster":"c1","nodes":["10.0.0.1","10.0.0.2"],"started_at":"2023-11-14T22:13:20.000Z",\
        "reclaim_at":"2023-11-14T22:15:20.000Z","version":9}\
        """,
        CapacityRoutes.toJson(
                new CapacityService.Drilled(
                    "c1", new Drill(T0), List.of("10.0.0.1", "10.0.0.2"), 9))
            .toBuffer()
            .toString());
  }
}
