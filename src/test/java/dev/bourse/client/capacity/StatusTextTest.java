package dev.bourse.client.capacity;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Capacity as text. */
@Tag("fast")
class StatusTextTest {
  private static String status(String health, boolean autoSwap, String... reasons) {
    return StatusText.of(
        List.of(
            new JsonObject()
                .put("cluster", "acme-train")
                .put("version", 1)
                .put("gpus_per_node", 8)
                .put("writes_armed", true)
                .put("pending", 0)
                .put("pool", new JsonObject())
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
                                        .put("reasons", new JsonArray(List.of(reasons))))))));
  }

  @Test
  void aFailedNodeIsNamedWithItsReasonsAndWhatReplacesIt() {
    String text = status("failed", false, "GPU 3 is lost", "GPU 4 is slow");
    assertTrue(text.contains("HEALTH"), text);
    assertTrue(text.contains("acme-train: 198.18.0.7 is failed since "), text);
    assertTrue(
        text.contains("GPU 3 is lost; GPU 4 is slow; to replace it: bourse nodes swap"), text);
    assertFalse(status("failed", true, "GPU 3 is lost").contains("bourse nodes swap"));
  }

  @Test
  void aNodeThatWasNeverCheckedHasNoHealthToShow() {
    assertFalse(status("unknown", false).contains("HEALTH"));
    assertFalse(status("ok", false).contains(" is ok since"));
  }
}
