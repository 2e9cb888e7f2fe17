package dev.bourse.edge;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.openapi.contract.Path;
import io.vertx.openapi.contract.SecurityRequirement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What anyone may read: the contracts as JSON, and the texts that lead to them. */
final class Pages {
  private static final String REQUESTS_PER_MINUTE = "${requests_per_minute}";

  /** An hour would outlive a change of the budget; a minute spares most repeats. */
  private static final Map<String, String> BRIEFLY = Map.of("cache-control", "public, max-age=60");

  private final Map<String, Page> byPath = new HashMap<>();

  Pages(List<Contract> contracts, String baseUrl, int requestsPerMinute) {
    for (Contract contract : contracts) {
      JsonObject document = contract.document();
      document.getJsonObject("info").put("x-requests-per-minute", requestsPerMinute);
      document.put("servers", new JsonArray().add(new JsonObject().put("url", baseUrl)));
      String text =
          document.encode().replace(REQUESTS_PER_MINUTE, Integer.toString(requestsPerMinute));
      byPath.put(address(contract), Page.of("application/json", text, BRIEFLY));
    }
    String orientation = orientation(contracts, baseUrl, requestsPerMinute);
    Page page = Page.of("text/markdown; charset=utf-8", orientation, BRIEFLY);
    byPath.put("/llms.txt", Page.of("text/plain; charset=utf-8", orientation, BRIEFLY));
    byPath.put("/AGENTS.md", page);
  }

  /** The page at a path; null when there is none. */
  @Nullable Page find(String path) {
    return byPath.get(path);
  }

  private static String address(Contract contract) {
    return "/api/" + contract.name() + "/openapi.json";
  }

  private static String orientation(
      List<Contract> contracts, String baseUrl, int requestsPerMinute) {
    StringBuilder text = new StringBuilder(4_096);
    text.append("# Bourse\n\n")
        .append("> A GPU-capacity exchange: declare how many GPUs you want and the most you pay;\n")
        .append(
            "> a market grants nodes, bills the clearing price and reclaims what no longer fits.\n\n")
        .append("Base URL: ")
        .append(baseUrl)
        .append("\n\n");
    for (Contract contract : contracts) {
      text.append("- ")
          .append(contract.title())
          .append(": ")
          .append(baseUrl)
          .append(address(contract))
          .append('\n');
      for (Path path : contract.model().getPaths()) {
        for (io.vertx.openapi.contract.Operation operation : path.getOperations()) {
          String scope = "none";
          for (SecurityRequirement requirement : operation.getSecurityRequirements()) {
            List<String> scopes = requirement.getScopes(Endpoint.API_TOKEN);
            scope = scopes.isEmpty() ? "any token" : String.join(" ", scopes);
          }
          text.append("  - ")
              .append(operation.getHttpMethod().name())
              .append(' ')
              .append(path.getName())
              .append(" (")
              .append(scope)
              .append("): ")
              .append(operation.getOpenAPIModel().getString("summary"))
              .append('\n');
        }
      }
    }
    return text.append("\nBudget: ")
        .append(requestsPerMinute)
        .append(" requests a minute per token.\n")
        .toString();
  }
}
