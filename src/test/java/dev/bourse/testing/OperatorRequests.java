package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonObject;

/** What tests of the operators' API send, and how they look at refusals. */
public final class OperatorRequests {
  private OperatorRequests() {}

  /** A pool to make, with only what it must have. */
  public static JsonObject newPool(String name) {
    return new JsonObject()
        .put("name", name)
        .put("site", "annex")
        .put("provider", "simulated")
        .put("gpu_vendor", "NVIDIA")
        .put("reserve_price_per_gpu_hour", 1.5)
        .put("max_price_cap_per_gpu_hour", 20)
        .put("ssh_user", "tenant");
  }

  /** Demands that an answer is a {@code bad-request} whose detail has all these words. */
  public static void refused(HttpAnswer answer, String... words) {
    String detail = answer.refused(ErrorCode.BAD_REQUEST).getString("detail");
    for (String word : words) {
      assertTrue(detail.contains(word), word + " in: " + detail);
    }
  }
}
