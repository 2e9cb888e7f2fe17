package dev.bourse.org;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.access.TokenLimits;
import dev.bourse.core.Text;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The answer to whoami, for every kind of caller.
 *
 * @param requestsPerMinute the caller's budget; 0 for none
 * @param served the serving program and store
 * @param pools a cluster's pool and its prices, like those in its capacity state; empty while this
 *     process has not loaded the cluster
 */
public record WhoamiView(
    int requestsPerMinute, Served served, Function<String, Optional<JsonObject>> pools) {
  /**
   * The program and store that serve the answer.
   *
   * @param version the program's version
   * @param schema the version of the store's schema
   */
  public record Served(String version, long schema) {}

  /** The organization, the scopes, the clusters that can be addressed, the budget and limits. */
  public JsonObject json(Principal caller, List<AddressableCluster> clusters, TokenLimits limits) {
    JsonArray addressable = new JsonArray();
    for (AddressableCluster cluster : clusters) {
      addressable.add(
          new JsonObject()
              .put("name", cluster.name())
              .put("kind", Text.folded(cluster.kind()))
              .put("gpu_vendor", cluster.gpuVendor())
              .put("gpu_model", cluster.gpuModel())
              .put("pool", pools.apply(cluster.name()).orElse(null)));
    }
    return new JsonObject()
        .put("org_id", caller.org().orgId())
        .put("org_display", caller.org().display())
        .put("org_kind", caller.org().kind())
        .put("scopes", new JsonArray(Scope.labels(caller.scopes())))
        .put("expires_at", Times.rfc3339OrNull(caller.expiresAtMillis()))
        .put("clusters", addressable)
        .put("rate_limit", new JsonObject().put("requests_per_minute", requestsPerMinute))
        .put("limits", limits.json())
        .put("ssh_keys_need_write", caller.org().sshKeysNeedWrite())
        .put(
            "service",
            new JsonObject().put("version", served.version()).put("schema", served.schema()));
  }
}
