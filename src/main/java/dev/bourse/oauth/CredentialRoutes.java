package dev.bourse.oauth;

import dev.bourse.access.InsufficientScopeException;
import dev.bourse.access.LimitStore;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.core.Times;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.console.PublishingCredentialOrderJson;
import dev.bourse.signin.Sessions;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** The operations on the calling member's publishing credentials. */
final class CredentialRoutes {
  private final PublishingCredentials credentials;
  private final LimitStore limits;
  private final Sessions sessions;

  CredentialRoutes(PublishingCredentials credentials, LimitStore limits, Sessions sessions) {
    this.credentials = credentials;
    this.limits = limits;
    this.sessions = sessions;
  }

  void bind(Operations operations) {
    operations
        .ok("listPublishingCredentials", this::list, CredentialRoutes::json)
        .created("mintPublishingCredential", this::mint, CredentialRoutes::minted)
        .ok("revokePublishingCredential", this::revoke, at -> at);
  }

  private Future<List<PublishingCredentials.Credential>> list(Call call) {
    return credentials.list(orgId(call), call.principal().requireMember());
  }

  private Future<PublishingCredentials.Minted> mint(Call call) {
    Principal caller = call.principal();
    PublishingCredentialOrderJson sent = PublishingCredentialOrderJson.read(call.body());
    PublishingCredentials.Order order =
        new PublishingCredentials.Order(
            sent.name(), credentials.expiry(sent.expiresAt()), sent.maxBytes(), sent.node());
    InsufficientScopeException.require(caller, Scope.CHECKPOINTS_WRITE);
    return limits
        .requireNone(caller, "mintPublishingCredential")
        .compose(allowed -> callerInForce(call))
        .compose(
            callerInForce ->
                credentials.mint(orgId(call), caller.requireMember(), order, callerInForce));
  }

  private Future<List<Statement>> callerInForce(Call call) {
    Principal caller = call.principal();
    return caller.credential() == Principal.CredentialKind.SESSION
        ? sessions
            .find(call)
            .map(found -> GrantStore.requireSession(found.orElseThrow(GrantStore::signedOut)))
        : Future.succeededFuture(
            GrantStore.requireGrant(orgId(call), caller.requireMember(), caller.grantId()));
  }

  private Future<JsonObject> revoke(Call call) {
    String id = call.text("credential_id");
    return credentials
        .revoke(orgId(call), call.principal().requireMember(), id)
        .map(at -> new JsonObject().put("credential_id", id).put("revoked_at", Times.rfc3339(at)));
  }

  private static String orgId(Call call) {
    return call.principal().org().orgId();
  }

  private static JsonObject json(List<PublishingCredentials.Credential> found) {
    return new JsonObject()
        .put("credentials", new JsonArray(found.stream().map(CredentialRoutes::json).toList()));
  }

  private static JsonObject minted(PublishingCredentials.Minted minted) {
    return json(minted.credential()).put("token", minted.token());
  }

  private static JsonObject json(PublishingCredentials.Credential credential) {
    return new JsonObject()
        .put("credential_id", credential.id())
        .put("name", credential.name())
        .put("created_at", Times.rfc3339(credential.createdAtMillis()))
        .put("expires_at", Times.rfc3339(credential.expiresAtMillis()))
        .put("max_bytes", credential.maxBytes())
        .put("published_bytes", credential.publishedBytes())
        .put("last_used_at", Times.rfc3339OrNull(credential.usedAtMillis()))
        .put("node", credential.node());
  }
}
