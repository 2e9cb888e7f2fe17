package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.core.Times;
import dev.bourse.org.OrgService;
import dev.bourse.org.OrgStore;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Who the member is and which clusters there are. */
public final class WhoamiTool implements Tool {
  private final OrgService org;
  private final int requestsPerMinute;

  /**
   * @param requestsPerMinute a member's budget; 0 for none
   */
  public WhoamiTool(OrgService org, int requestsPerMinute) {
    this.org = org;
    this.requestsPerMinute = requestsPerMinute;
  }

  @Override
  public String name() {
    return "whoami";
  }

  @Override
  public Optional<Scope> scope(JsonObject arguments) {
    return Optional.empty();
  }

  @Override
  public Future<JsonObject> call(Principal caller, JsonObject arguments) {
    return org.listClusters(caller).map(clusters -> json(caller, clusters));
  }

  private JsonObject json(Principal caller, List<OrgStore.Addressable> clusters) {
    JsonArray list = new JsonArray();
    for (OrgStore.Addressable cluster : clusters) {
      list.add(
          new JsonObject()
              .put("name", cluster.name())
              .put("kind", cluster.kind().toLowerCase(Locale.ROOT))
              .put("gpu_vendor", cluster.gpuVendor())
              .put("gpu_model", cluster.gpuModel()));
    }
    return new JsonObject()
        .put("org_id", caller.org().orgId())
        .put("org_display", caller.org().display())
        .put("org_kind", caller.org().kind())
        .put("username", caller.member())
        .put("scopes", new JsonArray(caller.scopes().stream().map(Scope::label).sorted().toList()))
        .put("expires_at", Times.rfc3339OrNull(caller.expiresAtMillis()))
        .put("clusters", list)
        .put("rate_limit", new JsonObject().put("requests_per_minute", requestsPerMinute));
  }
}
