package dev.bourse.org;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;

/** The organization contract's operations. */
public final class OrgRoutes {
  private final OrgStore store;
  private final int requestsPerMinute;

  /**
   * @param requestsPerMinute the request budget of a token, shown by whoami
   */
  public OrgRoutes(OrgStore store, int requestsPerMinute) {
    this.store = store;
    this.requestsPerMinute = requestsPerMinute;
  }

  public void bind(Operations operations) {
    operations.bind("whoami", this::whoami);
  }

  private Future<Answer> whoami(Call call) {
    Principal caller = call.principal();
    return store
        .listClusters(caller.org().orgId(), caller.cluster())
        .map(clusters -> Answer.ok(whoami(caller, clusters)));
  }

  private JsonObject whoami(Principal caller, List<OrgStore.Addressable> clusters) {
    JsonArray addressable = new JsonArray();
    for (OrgStore.Addressable cluster : clusters) {
      addressable.add(
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
        .put("subject", caller.actor())
        .put("token_id", caller.tokenId())
        .put("scopes", new JsonArray(caller.scopes().stream().map(Scope::label).sorted().toList()))
        .put("cluster", caller.cluster())
        .put("expires_at", Times.rfc3339OrNull(caller.expiresAtMillis()))
        .put("clusters", addressable)
        .put("rate_limit", new JsonObject().put("requests_per_minute", requestsPerMinute));
  }
}
