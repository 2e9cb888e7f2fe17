package dev.bourse.oauth;

import dev.bourse.access.SigningKeys;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The metadata that applications discover the service by: RFC 8414, RFC 9728 and the public keys.
 */
final class MetadataRoutes {
  /** None of these answers depends on cookies, so pages of any origin may read them. */
  static final List<Map.Entry<String, String>> FOR_ANY_ORIGIN =
      List.of(Map.entry("access-control-allow-origin", "*"));

  private final SigningKeys keys;
  private final Supplier<String> baseUrl;

  MetadataRoutes(SigningKeys keys, Supplier<String> baseUrl) {
    this.keys = keys;
    this.baseUrl = baseUrl;
  }

  void bind(Operations operations) {
    operations
        .bind("readAuthorizationServer", call -> cacheable(authorizationServer(), 300))
        .bind("readProtectedResource", call -> cacheable(resource("", "Bourse"), 300))
        .bind("readProtectedMcpResource", call -> cacheable(resource("/mcp", "Bourse MCP"), 300))
        // Short, so that a new key is read before it signs.
        .bind("readSigningKeys", call -> cacheable(keys.jwks(), 60));
    for (String operation :
        List.of(
            "preflightAuthorizationServer",
            "preflightProtectedResource",
            "preflightProtectedMcpResource",
            "preflightSigningKeys",
            "preflightOAuthToken",
            "preflightOAuthRevocation",
            "preflightOAuthClient")) {
      operations.bind(operation, MetadataRoutes::preflight);
    }
  }

  private static Future<Answer> cacheable(JsonObject body, int seconds) {
    List<Map.Entry<String, String>> headers = new ArrayList<>(FOR_ANY_ORIGIN);
    headers.add(Map.entry("cache-control", "public, max-age=" + seconds));
    return Future.succeededFuture(
        new Answer.RenderedPage(200, "application/json", body.toBuffer(), headers));
  }

  private static Future<Answer> preflight(Call call) {
    List<Map.Entry<String, String>> headers = new ArrayList<>(FOR_ANY_ORIGIN);
    headers.add(Map.entry("access-control-allow-methods", "GET, POST"));
    headers.add(
        Map.entry(
            "access-control-allow-headers", "Content-Type, Authorization, MCP-Protocol-Version"));
    headers.add(Map.entry("access-control-max-age", "86400"));
    return Future.succeededFuture(new Answer.RenderedPage(204, "", Buffer.buffer(), headers));
  }

  private JsonObject authorizationServer() {
    String base = baseUrl.get();
    return new JsonObject()
        .put("issuer", base)
        .put("authorization_endpoint", base + "/oauth/authorize")
        .put("token_endpoint", base + "/oauth/token")
        .put("registration_endpoint", base + "/oauth/register")
        .put("revocation_endpoint", base + "/oauth/revoke")
        .put("device_authorization_endpoint", base + "/oauth/device_authorization")
        .put("jwks_uri", base + "/oauth/jwks.json")
        .put("scopes_supported", new JsonArray(Scopes.all()))
        .put("response_types_supported", new JsonArray().add("code"))
        .put("response_modes_supported", new JsonArray().add("query"))
        .put(
            "grant_types_supported",
            new JsonArray().add(Client.CODE).add(Client.REFRESH).add(Client.DEVICE))
        .put("token_endpoint_auth_methods_supported", new JsonArray().add("none"))
        .put("revocation_endpoint_auth_methods_supported", new JsonArray().add("none"))
        .put("code_challenge_methods_supported", new JsonArray().add("S256"))
        .put("authorization_response_iss_parameter_supported", true)
        .put("client_id_metadata_document_supported", true)
        .put("service_documentation", base + "/docs");
  }

  private JsonObject resource(String path, String name) {
    String base = baseUrl.get();
    return new JsonObject()
        .put("resource", base + path)
        .put("authorization_servers", new JsonArray().add(base))
        // Clients request all scopes when the metadata lists none.
        .put("scopes_supported", new JsonArray(Scopes.defaultLabels()))
        .put("bearer_methods_supported", new JsonArray().add("header"))
        .put("resource_name", name)
        .put("resource_documentation", base + "/docs");
  }
}
