package dev.bourse.client.capacity;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Capacity as text. */
@Tag("fast")
class StatusTextTest {
  private static JsonObject cluster() {
    return new JsonObject()
        .put("cluster", "acme-train")
        .put("version", 1)
        .put("gpus_per_node", 8)
        .put("writes_armed", true)
        .put("pending", 0)
        .put("pool", new JsonObject());
  }

  private static String status(String health, boolean autoSwap, String... reasons) {
    return StatusText.of(
        List.of(
            cluster()
                .put(
                    "declared",
                    new JsonObject()
                        .put("max_gpus", 8)
                        .put("max_price_per_gpu_hour", 2)
                        .put("auto_swap", autoSwap))
                .put(
                    "allocations",
                    new JsonArray()
                        .add(
                            new JsonObject()
                                .put("public_ip", "198.18.0.7")
                                .put("slot", 0)
                                .put("state", "active")
                                .put(
                                    "health",
                                    new JsonObject()
                                        .put("state", health)
                                        .put("since", "2026-03-01T10:05:00.000Z")
                                        .put("reasons", new JsonArray(List.of(reasons))))))),
        Map.of());
  }

  private static String outlook(
      JsonArray losses, @Nullable Double keep, @Nullable Double pendingPrice) {
    return StatusText.of(
        List.of(cluster().put("allocations", new JsonArray())),
        Map.of(
            "acme-train",
            new JsonObject()
                .put("cluster", "acme-train")
                .put("losses", losses)
                .put("keep_price_per_gpu_hour", keep)
                .put("pending_price_per_gpu_hour", pendingPrice)));
  }

  @Test
  void aFailedNodeIsNamedWithItsReasonsAndWhatReplacesIt() {
    String text = status("failed", false, "GPU 3 is lost", "GPU 4 is slow");
    assertTrue(text.contains("HEALTH"), text);
    assertTrue(text.contains("  2.00  "), text);
    assertTrue(text.contains("acme-train: 198.18.0.7 is failed since "), text);
    assertTrue(
        text.contains("GPU 3 is lost; GPU 4 is slow; to replace it: bourse nodes swap"), text);
    assertFalse(status("failed", true, "GPU 3 is lost").contains("bourse nodes swap"));
  }

  @Test
  void aNodeThatHigherBidsWillTakeIsShownWithThePriceThatKeepsIt() {
    JsonArray losses =
        new JsonArray()
            .add(new JsonObject().put("by", "market").put("reclaim_at", "2026-03-01T10:05:00.000Z"))
            .add(new JsonObject().put("by", "until"));
    String text = outlook(losses, 5.01, null);
    assertTrue(text.contains("at today's bids it loses 1 node at "), text);
    assertTrue(text.contains("to keep all nodes: bourse up -c acme-train --max-price 5.01"), text);
    assertTrue(outlook(losses, null, null).contains("no ceiling keeps all nodes"));
    String pending = outlook(new JsonArray(), null, 4.2);
    assertTrue(
        pending.contains(
            "pending nodes at the next tick: bourse up -c acme-train --max-price 4.2"));
    assertFalse(pending.contains("today's bids"), pending);
    assertFalse(outlook(losses, 5.01, 3.0).contains("pending nodes at"), "lower than the other");
    assertTrue(outlook(losses, 3.0, 5.01).contains("--max-price 5.01"));
  }

  @Test
  void aNodeThatWasNeverCheckedHasNoHealthToShow() {
    assertFalse(status("unknown", false).contains("HEALTH"));
    assertFalse(status("ok", false).contains(" is ok since"));
  }
}
