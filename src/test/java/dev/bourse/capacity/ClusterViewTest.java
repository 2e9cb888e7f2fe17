package dev.bourse.capacity;

import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static dev.bourse.capacity.Sample.active;
import static dev.bourse.capacity.Sample.empty;
import static dev.bourse.capacity.Sample.granted;
import static dev.bourse.capacity.Sample.ip;
import static dev.bourse.capacity.Sample.order;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.FakeClock;
import dev.bourse.pools.Quote;
import dev.bourse.pools.Switches;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The capacity state as clients read it. */
@Tag("fast")
class ClusterViewTest {
  private static final long LATER = T0 + 600_000;

  @Test
  void beforeTheFirstDeclarationDeclaredIsNull() {
    JsonObject json = json(empty());

    assertTrue(json.containsKey("declared"));
    assertNull(json.getValue("declared"));
    assertEquals(0, json.getInteger("pending"));
    assertEquals(0, json.getInteger("version"));
    assertEquals(new JsonArray(), json.getJsonArray("allocations"));
    assertTrue(json.containsKey("billing_hold"));
    assertNull(json.getValue("billing_hold"));
    assertEquals(8, json.getInteger("gpus_per_node"));
    assertEquals(10.0, json.getDouble("max_price_cap_per_gpu_hour"));
  }

  @Test
  void allocationsAreShownByAddressAndNeverByNode() {
    Cluster cluster = Capacity.swap(active(2), Sample.ACTOR, ip(1), TERMS, LATER).next();
    cluster = granted(cluster, 5, "a1", LATER);
    JsonObject json = json(cluster);

    assertEquals(
        new JsonObject()
            .put("public_ip", ip(0))
            .put("granted_at", "2023-11-14T22:13:21.000Z")
            .put("state", "active")
            .put("slot", 0)
            .put("swap", false)
            .put("protected_until", "2023-11-14T23:14:20.000Z")
            .putNull("reclaim_at")
            .putNull("reclaim_reason")
            .put(
                "health",
                new JsonObject()
                    .put("state", "unknown")
                    .put("since", "2023-11-14T22:13:21.000Z")
                    .put("reasons", new JsonArray())),
        json.getJsonArray("allocations").getJsonObject(0));
    assertNull(json.getJsonArray("allocations").getJsonObject(2).getValue("protected_until"));
    assertEquals(new JsonArray().add(ip(1)), json.getJsonArray("swaps"));
    assertEquals(new JsonArray().add(ip(1)), json.getJsonArray("nominations"));
    assertEquals(new JsonArray().add(ip(1)).add(ip(0)), json.getJsonArray("planned_release"));
    assertFalse(json.encode().contains("\"n0\""), "no node name");
  }

  @Test
  void nominationsAreInTheirOrder() {
    Cluster cluster =
        Capacity.declare(active(3), order(24, "2", 1, List.of(ip(2), ip(0))), TERMS, LATER).next();

    assertEquals(new JsonArray().add(ip(2)).add(ip(0)), json(cluster).getJsonArray("nominations"));
  }

  @Test
  void aHoldShowsItsStageAndAGraceDoesNot() {
    Cluster notice =
        DirectChange.hold(new Hold(Hold.Stage.NOTICE, "unpaid", T0 + 77))
            .apply(active(1), T0)
            .next();
    Cluster grace =
        DirectChange.hold(new Hold(Hold.Stage.GRACE, "unpaid", null)).apply(active(1), T0).next();

    assertEquals(
        new JsonObject()
            .put("state", "hold")
            .put("reason", "unpaid")
            .put("stage", "notice")
            .put("enforce_after_ms", 77),
        json(notice).getJsonObject("billing_hold"));
    Cluster byHand =
        DirectChange.hold(new Hold(Hold.Stage.NOTICE, "operator", null))
            .apply(active(1), T0)
            .next();
    assertEquals(0, json(byHand).getJsonObject("billing_hold").getInteger("enforce_after_ms"));
    assertEquals(
        new JsonObject().put("state", "grace").put("reason", "unpaid"),
        json(grace).getJsonObject("billing_hold"));
    assertEquals(json(active(1)).getJsonObject("declared"), json(notice).getJsonObject("declared"));
  }

  @Test
  void aGrantChangesTheValidatorWhileTheVersionStays() {
    Cluster before = Sample.declared(8);
    Cluster after = granted(before, 0, null, LATER);

    assertEquals(before.version(), after.version());
    assertNotEquals(view(before).encoded().etag(), view(after).encoded().etag());
    assertEquals(view(before).encoded().etag(), view(before).encoded().etag());
    assertTrue(view(before).encoded().etag().matches("\"[0-9a-f]{32}\""));
  }

  @Test
  void aSnapshotIsEncodedOnce() {
    ClusterView view = view(active(1));

    assertSame(view.encoded(), view.encoded());
  }

  @Test
  void aPriceThatMovesIsAnotherStateOfTheSameVersion() {
    AtomicReference<@Nullable Quote> quote = new AtomicReference<>();
    ClusterView view =
        Sample.view(
            active(1), Sample.POOL, quote::get, new Switches(true, false, true), new FakeClock(T0));
    ClusterView.Encoded before = view.encoded();
    assertEquals(before.etag(), view.encoded().etag());
    quote.set(new Quote(150L, 200L, 4, 2, T0, T0 + 10_000));
    ClusterView.Encoded after = view.encoded();
    assertNotEquals(before.etag(), after.etag());
    quote.set(new Quote(150L, 200L, 4, 1, T0 + 10_000, T0 + 20_000));
    assertSame(after, view.encoded());
    JsonObject state = new JsonObject(after.json());
    JsonObject pool = state.getJsonObject("pool");
    assertEquals(Sample.POOL.name(), pool.getString("pool"));
    assertEquals(1.5, pool.getDouble("clearing_price_per_gpu_hour"));
    assertEquals(2.0, pool.getDouble("admission_price_per_gpu_hour"));
    assertEquals(new JsonObject(before.json()).getLong("version"), state.getLong("version"));
  }

  @Test
  void underANoticeEachReadIsAnother() {
    FakeClock clock = new FakeClock(T0);
    Cluster notice =
        DirectChange.hold(new Hold(Hold.Stage.NOTICE, "unpaid", T0 + 77))
            .apply(active(1), T0)
            .next();
    ClusterView view =
        Sample.view(notice, Sample.POOL, () -> null, new Switches(true, false, true), clock);
    ClusterView.Encoded first = view.encoded();
    clock.advance(7);
    ClusterView.Encoded later = view.encoded();

    assertNotEquals(first.etag(), later.etag());
    assertEquals(
        70,
        later.json().toJsonObject().getJsonObject("billing_hold").getInteger("enforce_after_ms"));
  }

  private static ClusterView view(Cluster cluster) {
    return Sample.views(cluster).get(0);
  }

  private static JsonObject json(Cluster cluster) {
    return view(cluster).encoded().json().toJsonObject();
  }
}
