package dev.bourse.mcp;

import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Optional;

/**
 * Which tool helps with a refusal. It is said beside the refusal, which itself stays as the HTTP
 * interface has it.
 */
final class Remedies {
  private static final Map<String, String> BY_CODE =
      Map.of(
          ErrorCode.NO_SSH_KEYS.code(),
          "ssh_key_write with action=add registers a key; then preview again.",
          ErrorCode.AMBIGUOUS_CLUSTER.code(),
          "whoami names the clusters and their kinds.",
          ErrorCode.UNKNOWN_NODE.code(),
          "capacity_read tells the public IPs of the nodes that are held.",
          ErrorCode.BID_TOO_LOW.code(),
          "market_read with action=feed tells what would take a node.",
          ErrorCode.PRICE_ABOVE_MAXIMUM.code(),
          "capacity_read tells max_price_cap_per_gpu_hour.",
          ErrorCode.TOKEN_LIMIT.code(),
          "whoami tells the limits under which the member let this application in.",
          ErrorCode.GONE.code(),
          "checkpoint_read with action=list tells which there are.",
          ErrorCode.ORG_CAP.code(),
          "checkpoint_write with action=delete makes room.");

  private Remedies() {}

  /**
   * What to call next.
   *
   * @param tool the one that refused
   * @param refusal the fields of its answer
   */
  static Optional<String> find(String tool, JsonObject refusal) {
    String code = refusal.getString("error");
    if (code.equals(ErrorCode.VERSION_MISMATCH.code())) {
      return Optional.of(
          "%s tells what there is now; then call %s with phase=preview again."
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
