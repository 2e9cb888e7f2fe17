package dev.bourse.edge.docs;

import dev.bourse.access.Principal;
import dev.bourse.contract.Contract;
import dev.bourse.contract.OperationContract;
import dev.bourse.core.ErrorCode;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What anyone may read: the contracts as JSON, the documentation, and the texts that lead there.
 * Each is made when it is first asked for and then kept: about 3 MB once all were.
 */
public final class Pages {
  /** The extension of an operation that knows its callers by itself: what they have to show. */
  private static final String CREDENTIAL = "x-credential";

  private static final String TOKEN_BUDGET = "${token_budget}";

  /** These change with the service's configuration; a minute spares most repeats. */
  private static final Map<String, String> BRIEFLY = Map.of("cache-control", "public, max-age=60");

  private final Map<String, Supplier<Page>> byPath = new HashMap<>();
  private final Map<String, Page> made = new ConcurrentHashMap<>();
  private final DocsAssets assets = new DocsAssets();

  public Pages(List<Contract> contracts, String baseUrl, int requestsPerMinute) {
    for (Contract contract : contracts) {
      byPath.put(
          address(contract),
          () ->
              Page.of(
                  OperationContract.JSON, served(contract, baseUrl, requestsPerMinute), BRIEFLY));
    }
    Map.of("/llms.txt", "plain", "/AGENTS.md", "markdown")
        .forEach(
            (path, kind) ->
                byPath.put(
                    path,
                    () ->
                        Page.of(
                            "text/" + kind + "; charset=utf-8",
                            orientation(contracts, baseUrl, requestsPerMinute),
                            BRIEFLY)));
    byPath.put(
        "/docs", () -> Page.of("text/html; charset=utf-8", assets.html(), docsHeaders(baseUrl)));
    byPath.put(
        "/docs/start.js",
        () -> Page.of("text/javascript; charset=utf-8", start(contracts), BRIEFLY));
    byPath.put(
        "/",
        () ->
            new Page(
                302,
                "text/plain",
                Buffer.buffer("/docs\n"),
                "\"docs\"",
                Map.of("location", "/docs")));
  }

  /** Whether there is a page at a path. */
  public boolean has(String path) {
    return byPath.containsKey(path) || assets.has(path);
  }

  /** The page at a path if it was made already; null otherwise. */
  public @Nullable Page made(String path) {
    return made.get(path);
  }

  /** The page at a path there is. Makes it the first time, so call it off the event loop. */
  public Page get(String path) {
    Supplier<Page> maker = byPath.get(path);
    return made.computeIfAbsent(path, absent -> maker == null ? assets.load(path) : maker.get());
  }

  private static String served(Contract contract, String baseUrl, int requestsPerMinute) {
    JsonObject document = contract.document();
    document.getJsonObject("info").put("x-requests-per-minute", requestsPerMinute);
    document.put("servers", new JsonArray().add(new JsonObject().put("url", baseUrl)));
    return document.encode().replace(TOKEN_BUDGET, budget(requestsPerMinute));
  }

  private static String budget(int requestsPerMinute) {
    return requestsPerMinute == 0
        ? "any number of requests"
        : requestsPerMinute + " requests a minute";
  }

  private static String address(Contract contract) {
    return "/api/" + contract.name() + "/openapi.json";
  }

  /**
   * Scripts come from here alone. The page's script writes style attributes, so those must pass.
   */
  private static Map<String, String> docsHeaders(String baseUrl) {
    return Map.of(
        "cache-control",
        "public, max-age=60",
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline';"
            + " img-src 'self' data:; connect-src 'self' "
            + baseUrl
            + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "referrer-policy",
        "no-referrer");
  }

  private static String start(List<Contract> contracts) {
    JsonArray urls = new JsonArray();
    for (Contract contract : contracts) {
      urls.add(new JsonObject().put("url", address(contract)).put("name", contract.title()));
    }
    return "window.ui = SwaggerUIBundle({urls: "
        + urls.encode()
        + ", dom_id: '#docs', deepLinking: true, validatorUrl: null, layout: 'StandaloneLayout',"
        + " presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset]});\n";
  }

  private static String orientation(
      List<Contract> contracts, String baseUrl, int requestsPerMinute) {
    StringBuilder text = new StringBuilder(8_192);
    text.append(
        """
        # Bourse

        > A GPU-capacity exchange. An organization declares how many GPUs a cluster wants and the most
        > it pays per GPU-hour; a market grants whole nodes, bills them at the clearing price and
        > reclaims them when the declaration no longer matches.

        Base URL: %s

        ## First steps

        1. Send `Authorization: Bearer <API token>` with every call. Tokens look like
           `brs_<token_id>_<secret>` and are minted in the console.
        2. `GET /api/whoami` tells the organization, the scopes and the clusters the token can address.
        3. `GET /api/vm/capacity` gives the state with its `version`; `PUT /api/vm/capacity` declares
           anew, with that figure as `expected_version`. On 409 `version-mismatch`, read and decide again.
        4. Read `gpus_per_node` from the answer. Prices are US dollars per GPU-hour.

        ## Rules

        - Budget: %s. `RateLimit` on each answer says what is left; a 429 says in
          `retry_after_s` and `Retry-After` when the same request will do.
        - The market decides once per tick (10 s by default): one read every ten seconds suffices.
          `If-None-Match` spares the body of what has not changed.
        - Unknown fields and parameters are refused; nothing is rounded or guessed.
        - A scale-down or a swap destroys the node's local data.

        ## Contracts and operations

        The OpenAPI 3.1 documents are the authority; [the same to read](%s/docs).
        """
            .formatted(baseUrl, budget(requestsPerMinute) + " for each token", baseUrl));
    for (Contract contract : contracts) {
      text.append("\n### [%s](%s%s)\n\n".formatted(contract.title(), baseUrl, address(contract)))
          .append(contract.summary())
          .append("\n\n");
      contract.model().getPaths().stream()
          .flatMap(path -> path.getOperations().stream())
          .forEach(operation -> text.append(line(operation)));
    }
    text.append(
        """

        ## Errors

        `{"error": <code>, "detail": <what exactly failed>}`, and what the code adds. By status:

        """);
    Map<Integer, TreeSet<String>> byStatus = new TreeMap<>();
    for (ErrorCode code : ErrorCode.values()) {
      byStatus.computeIfAbsent(code.status(), status -> new TreeSet<>()).add(code.code());
    }
    byStatus.forEach(
        (status, codes) -> text.append("- %d: %s\n".formatted(status, String.join(", ", codes))));
    return text.toString();
  }

  private static String line(io.vertx.openapi.contract.Operation operation) {
    return "- `%s %s` (%s): %s\n"
        .formatted(
            operation.getHttpMethod().name(),
            operation.getAbsoluteOpenAPIPath(),
            OperationContract.demands(operation).stream()
                .map(Pages::credential)
                .findFirst()
                .orElse(operation.getOpenAPIModel().getString(CREDENTIAL, "no token")),
            operation.getOpenAPIModel().getString("summary"));
  }

  private static String credential(OperationContract.Demand demand) {
    return demand.scopes().stream()
        .findFirst()
        .orElse(demand.scheme().equals(Principal.SCHEME) ? "any token" : demand.scheme());
  }
}
