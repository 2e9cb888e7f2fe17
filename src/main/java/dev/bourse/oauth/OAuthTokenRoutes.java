package dev.bourse.oauth;

import dev.bourse.access.Scope;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.signin.AttemptLimiter;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The operations for applications: registration, tokens, and their revocation. */
final class OAuthTokenRoutes {
  /** Registrations from one address in 15 minutes; an application registers once. */
  private static final int REGISTRATIONS = 30;

  private static final int DEVICES = 60;

  private final ClientRegistry clients;
  private final Grants grants;
  private final GrantRevocation revocation;
  private final DeviceFlow devices;
  private final Supplier<String> baseUrl;
  private final AttemptLimiter registrations =
      new AttemptLimiter(REGISTRATIONS, "registrations from one address");
  private final AttemptLimiter begun =
      new AttemptLimiter(DEVICES, "device codes requested from one address");

  OAuthTokenRoutes(
      ClientRegistry clients,
      Grants grants,
      GrantRevocation revocation,
      DeviceFlow devices,
      Supplier<String> baseUrl) {
    this.clients = clients;
    this.grants = grants;
    this.revocation = revocation;
    this.devices = devices;
    this.baseUrl = baseUrl;
  }

  void bind(Operations operations) {
    operations
        .bind("issueOAuthToken", call -> answered(() -> token(call)))
        .bind("revokeOAuthToken", call -> answered(() -> revoke(call)))
        .bind("registerOAuthClient", call -> answered(() -> register(call)))
        .bind("beginDeviceAuthorization", call -> answered(() -> beginDevice(call)))
        // Anybody may send these, so unreadable requests count too.
        .guard("registerOAuthClient", call -> registrations.count(call.clientKey()))
        .guard("beginDeviceAuthorization", call -> begun.count(call.clientKey()));
  }

  private static Future<Answer> answered(Supplier<Future<Answer>> work) {
    Future<Answer> answer;
    try {
      answer = work.get();
    } catch (OAuthException e) {
      return Future.succeededFuture(refusal(e));
    }
    return answer.recover(
        fault ->
            fault instanceof OAuthException e
                ? Future.succeededFuture(refusal(e))
                : Future.failedFuture(fault));
  }

  private static Answer refusal(OAuthException e) {
    boolean isUnknown = e.code().equals(OAuthException.INVALID_CLIENT);
    return json(
        isUnknown ? 401 : 400,
        new JsonObject().put("error", e.code()).put("error_description", e.description()),
        isUnknown ? List.of(Map.entry("www-authenticate", "Bearer")) : List.of());
  }

  private static Answer json(int status, JsonObject body, List<Map.Entry<String, String>> further) {
    List<Map.Entry<String, String>> headers = new ArrayList<>(MetadataRoutes.FOR_ANY_ORIGIN);
    headers.add(Map.entry("cache-control", "no-store"));
    headers.addAll(further);
    return new Answer.RenderedPage(status, "application/json", body.toBuffer(), headers);
  }

  /** The calling client. Public clients send their id in the body and have no secret. */
  private Future<Client> client(Call call) {
    if (call.header("authorization").isPresent()) {
      throw new OAuthException(
          OAuthException.INVALID_CLIENT,
          "Authorization: clients have no secrets here; send client_id in the body instead");
    }
    return clients.find(required(call, "client_id"), call.clientKey());
  }

  private static String required(Call call, String field) {
    String value = call.body().getString(field);
    if (value == null) {
      throw new OAuthException(OAuthException.INVALID_REQUEST, field + ": missing");
    }
    return value;
  }

  private Future<Answer> token(Call call) {
    String grantType = required(call, "grant_type");
    return client(call)
        .compose(
            client -> {
              JsonObject form = call.body();
              String named = form.getString("resource");
              String resource =
                  named == null ? null : AuthorizationRequest.resource(named, baseUrl.get());
              return switch (grantType) {
                case Client.CODE -> {
                  client.require(Client.CODE);
                  yield grants.redeem(
                      client,
                      required(call, "code"),
                      required(call, "redirect_uri"),
                      required(call, "code_verifier"),
                      resource);
                }
                case Client.REFRESH -> {
                  client.require(Client.REFRESH);
                  yield grants.refresh(
                      client, required(call, "refresh_token"), form.getString("scope"), resource);
                }
                case Client.DEVICE -> devices.poll(client, required(call, "device_code"));
                default ->
                    throw new OAuthException(
                        OAuthException.UNSUPPORTED_GRANT_TYPE,
                        "grant_type: expected one of %s"
                            .formatted(
                                String.join(", ", Client.CODE, Client.REFRESH, Client.DEVICE)));
              };
            })
        .map(OAuthTokenRoutes::issued);
  }

  private static Answer issued(Grants.IssuedTokens issued) {
    JsonObject body =
        new JsonObject()
            .put("access_token", issued.access())
            .put("token_type", "Bearer")
            .put("expires_in", Grants.ACCESS_MILLIS / 1_000)
            .put("scope", Scope.text(issued.scopes()));
    if (issued.refresh() != null) {
      body.put("refresh_token", issued.refresh());
    }
    return json(200, body, List.of(Map.entry("pragma", "no-cache")));
  }

  private Future<Answer> revoke(Call call) {
    String token = required(call, "token");
    return client(call)
        .compose(client -> revocation.revoke(client, token))
        .map(revoked -> json(200, new JsonObject(), List.of()));
  }

  private Future<Answer> register(Call call) {
    return clients.register(call.body()).map(client -> json(201, client, List.of()));
  }

  private Future<Answer> beginDevice(Call call) {
    return client(call)
        .compose(
            client ->
                devices.begin(
                    client,
                    Scopes.asked(call.body().getString("scope")),
                    AuthorizationRequest.resource(
                        call.body().getString("resource"), baseUrl.get())))
        .map(
            device ->
                json(
                    200,
                    new JsonObject()
                        .put("device_code", device.deviceCode())
                        .put("user_code", device.userCode())
                        .put("verification_uri", baseUrl.get() + "/device")
                        .put(
                            "verification_uri_complete",
                            baseUrl.get() + "/device?user_code=" + device.userCode())
                        .put("expires_in", DeviceFlow.LIFE_MILLIS / 1_000)
                        .put("interval", DeviceFlow.INTERVAL_MILLIS / 1_000),
                    List.of()));
  }
}
