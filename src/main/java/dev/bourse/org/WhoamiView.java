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
 * What every kind of caller is told of itself.
 *
 * @param requestsPerMinute the caller's budget; 0 for none
 * @param served what answers
 * @param pools a cluster's pool and its prices, as its capacity state shows them; empty while this
 *     process has not seen the cluster
 */
public record WhoamiView(
    int requestsPerMinute, Served served, Function<String, Optional<JsonObject>> pools) {
  /**
   * What answers.
   *
   * @param version of the program
   * @param schema the version of its store's schema
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
