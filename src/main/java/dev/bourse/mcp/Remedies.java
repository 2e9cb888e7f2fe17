package dev.bourse.mcp;

import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Optional;

/**
 * Names the tool that helps with a refusal. The text is added beside the refusal, which itself
 * equals the HTTP API's.
 */
final class Remedies {
  private static final Map<String, String> BY_CODE =
      Map.of(
          ErrorCode.NO_SSH_KEYS.code(),
          "ssh_key_write with action=add registers a key; then preview again.",
          ErrorCode.AMBIGUOUS_CLUSTER.code(),
          "whoami names the clusters and their kinds.",
          ErrorCode.UNKNOWN_NODE.code(),
          "capacity_read shows the public IPs of the held nodes.",
          ErrorCode.BID_TOO_LOW.code(),
          "market_read with action=feed shows the price that wins a node.",
          ErrorCode.PRICE_ABOVE_MAXIMUM.code(),
          "capacity_read shows max_price_cap_per_gpu_hour.",
          ErrorCode.TOKEN_LIMIT.code(),
          "whoami shows the limits that the member set for this application.",
          ErrorCode.GONE.code(),
          "checkpoint_read with action=list lists the checkpoints.",
          ErrorCode.ORG_CAP.code(),
          "checkpoint_write with action=delete makes room.");

  private Remedies() {}

  /**
   * The next call to make.
   *
   * @param tool the tool that refused
   * @param refusal the fields of its answer
   */
  static Optional<String> find(String tool, JsonObject refusal) {
    String code = refusal.getString("error");
    if (code.equals(ErrorCode.VERSION_MISMATCH.code())) {
      return Optional.of(
          "%s shows the current state; then call %s with phase=preview again."
              .formatted(
                  tool.equals("checkpoint_write")
                      ? "checkpoint_read with action=get"
                      : "capacity_read",
                  tool));
    }
    if (refusal.getString("reason", "").startsWith("confirm-")) {
      return Optional.of(
          tool + " with phase=preview gives another confirm_token for the arguments it is given.");
    }
    return Optional.ofNullable(BY_CODE.get(code));
  }
}
