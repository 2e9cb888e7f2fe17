package dev.bourse.webhooks;

import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Clusters;
import io.vertx.core.json.JsonObject;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Returns the addresses of the console's pages about events. They change nothing when they are
 * opened.
 *
 * @param baseUrl where members find the console
 * @param isKubernetes whether a cluster is a Kubernetes cluster; false if it is unknown
 */
public record EventLink(Supplier<String> baseUrl, Predicate<String> isKubernetes) {
  /** Returns the addresses for the clusters of this process. */
  public static EventLink of(Supplier<String> baseUrl, Clusters clusters) {
    return new EventLink(
        baseUrl,
        name ->
            clusters
                .find(name)
                .map(found -> found.cluster().kind() == Cluster.Kind.K8S)
                .orElse(false));
  }

  /**
   * Returns the address of the page about an event. The page of a cluster whose nodes are at risk
   * fills in the ceiling that keeps them, as of the time it is opened.
   *
   * @param body a body that {@link WebhookEvent#body} made
   */
  public String of(JsonObject body) {
    JsonObject data = body.getJsonObject("data", new JsonObject());
    String type = body.getString("type", "");
    String cluster = data.getString("cluster");
    return baseUrl.get()
        + (cluster == null ? ofOrganization(type, data) : ofCluster(type, cluster));
  }

  private String ofCluster(String type, String cluster) {
    boolean isAtRisk = type.equals("notice") || type.equals("alert");
    return (isKubernetes.test(cluster) ? "/console/kubernetes/" : "/console/clusters/")
        + encoded(cluster)
        + (isAtRisk ? "?ceiling=keep" : "");
  }

  private static String ofOrganization(String type, JsonObject data) {
    return switch (type) {
      case "token-minted", "token-revoked" -> "/console/tokens";
      case "members-changed" -> "/console/people";
      case "review-decided" -> "/console/checkpoints";
      case "statement-ready" -> "/console/billing";
      case EventKind.TEST -> "/console/webhooks/" + encoded(data.getString("endpoint_id", ""));
      default -> "/console/";
    };
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}
