package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.util.Base64;

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

  /** A service with the pool {@code real}, whose machines are reached by ssh with a new key. */
  public static RunningBourse realMachines(Path folder) throws Exception {
    Path identity = folder.resolve("identity");
    KeyPairGenerator keys = KeyPairGenerator.getInstance("RSA");
    keys.initialize(2048);
    String key =
        Base64.getMimeEncoder().encodeToString(keys.generateKeyPair().getPrivate().getEncoded());
    Files.writeString(
        identity, "-----BEGIN PRIVATE KEY-----\n" + key + "\n-----END PRIVATE KEY-----\n");
    RunningBourse site = RunningBourse.withMarkets(1, "nodes.ssh.identity-file=" + identity);
    site.operator().post("/api/operator/pools", newPool("real").put("provider", "ssh"));
    return site;
  }
}
