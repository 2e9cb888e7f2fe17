package dev.bourse.client.account;

import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.Map;

/**
 * The metadata of a service's authorization server (RFC 8414).
 *
 * @param issuer its identifier
 */
record ServerMetadata(
    String issuer,
    String authorizationEndpoint,
    String deviceEndpoint,
    String tokenEndpoint,
    String revocationEndpoint) {
  /** The command line's client id, known to every service without registration. */
  static final String CLIENT_ID = "bourse-cli";

  static final String DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
  static final String REFRESH_GRANT = "refresh_token";

  /** An answer of an endpoint. */
  record Reply(int status, JsonObject body) {
    boolean isDone() {
      return status < 300;
    }

    /** The error code of RFC 6749; empty when there is none. */
    String error() {
      return body.getValue("error") instanceof String error ? error : "";
    }

    /** The answer as a refusal. */
    RefusedException refused(String what) {
      String metadata =
          body.getValue("error_description") instanceof String description
              ? error() + ": " + description
              : error().isEmpty() ? "status " + status : error();
      return new RefusedException(
          status >= 500 || status == 429 ? ExitCode.UNAVAILABLE : ExitCode.REFUSED,
          what + ": " + Text.plain(metadata));
    }
  }

  /**
   * Reads a service's metadata. All endpoints must belong to the service, because they receive
   * secrets.
   *
   * @throws RefusedException when there is no metadata, or it names another service
   */
  static ServerMetadata discover(Service service) throws RefusedException {
    String url = service.baseUrl();
    JsonObject metadata;
    try {
      metadata = service.read(url + "/.well-known/oauth-authorization-server");
    } catch (RefusedException e) {
      throw e.status() == 404
          ? new RefusedException(ExitCode.REFUSED, url + " has no sign-in for members")
          : e;
    }
    String issuer = metadata.getString("issuer", "");
    if (!issuer.equals(url)) {
      throw new RefusedException(
          ExitCode.REFUSED,
          "%s calls itself %s; give that to --url".formatted(url, Text.plain(issuer)));
    }
    if (!metadata.getJsonArray("grant_types_supported", new JsonArray()).contains(DEVICE_GRANT)) {
      throw new RefusedException(
          ExitCode.REFUSED, url + " does not support sign-in from a command line");
    }
    return new ServerMetadata(
        issuer,
        endpoint(metadata, issuer, "authorization_endpoint"),
        endpoint(metadata, issuer, "device_authorization_endpoint"),
        endpoint(metadata, issuer, "token_endpoint"),
        endpoint(metadata, issuer, "revocation_endpoint"));
  }

  private static String endpoint(JsonObject metadata, String issuer, String field)
      throws RefusedException {
    String endpoint = metadata.getString(field, "");
    if (!endpoint.startsWith(issuer + '/')) {
      throw new RefusedException(
          ExitCode.REFUSED,
          "%s: its %s is at another service: %s".formatted(issuer, field, Text.plain(endpoint)));
    }
    return endpoint;
  }

  /** An account without tokens. */
  Account account(SignInProfile profile) {
    return new Account(
        profile.isNamed() ? profile.url() : null,
        CLIENT_ID,
        tokenEndpoint,
        revocationEndpoint,
        null,
        Instant.EPOCH,
        null);
  }

  /**
   * Sends a form to an endpoint.
   *
   * @throws RefusedException when there is no answer
   */
  static Reply ask(Service service, String endpoint, Map<String, String> form)
      throws RefusedException {
    return reply(service, service.form(endpoint, form));
  }

  static Reply reply(Service service, HttpResponse<String> response) throws RefusedException {
    try {
      return new Reply(
          response.statusCode(),
          response.body().isBlank() ? new JsonObject() : new JsonObject(response.body()));
    } catch (DecodeException e) {
      throw service.refusal(response.statusCode(), response.headers(), response.body());
    }
  }
}
