package dev.bourse.console;

import dev.bourse.access.Principal;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.signin.OwnSessions;
import dev.bourse.signin.OwnSessions.OwnSession;
import dev.bourse.signin.Profile;
import dev.bourse.signin.Session;
import dev.bourse.signin.Sessions;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The operations on the calling browser's session and the member's other sessions. */
public final class SessionRoutes {
  private final Sessions sessions;
  private final OwnSessions own;
  private final @Nullable String contentUrl;

  /**
   * @param contentUrl the address of the host of published bytes for browsers; empty when there is
   *     none
   */
  public SessionRoutes(Sessions sessions, OwnSessions own, String contentUrl) {
    this.sessions = sessions;
    this.own = own;
    this.contentUrl = contentUrl.isEmpty() ? null : contentUrl;
  }

  public void bind(Operations operations) {
    operations
        .ok("readSession", this::read, json -> json)
        .ok("listSessions", this::list, json -> json)
        .ok("endSession", this::end, ended -> done())
        .ok(
            "endAllSessions",
            call ->
                own.endEverywhere(call.principal().org().orgId(), call.principal().requireMember()),
            ended -> done());
  }

  private Future<JsonObject> read(Call call) {
    return sessions
        .find(call)
        .map(found -> found.orElseThrow(SessionRoutes::ended))
        .compose(session -> sessions.profile(session).map(profile -> json(session, profile)));
  }

  /** Somebody ended the session, or removed its member, during the request. */
  private static ApiException ended() {
    return ApiException.of(ErrorCode.UNAUTHORIZED, "the session has ended; sign in again");
  }

  private JsonObject json(Session session, Profile profile) {
    return new JsonObject()
        .put("username", session.username())
        .put("name", profile.name())
        .put("email", profile.email())
        .put("org_id", session.orgId())
        .put("org_display", profile.orgDisplay())
        .put("csrf", session.csrfToken())
        .put("content_url", contentUrl)
        .put("created_at", Times.rfc3339(session.createdAtMillis()))
        .put("expires_at", Times.rfc3339(session.expiresAtMillis()))
        .put("idle_ends_at", Times.rfc3339(session.idleEndsAtMillis()));
  }

  private Future<JsonObject> list(Call call) {
    Principal caller = call.principal();
    Future<Optional<String>> current =
        caller.credential() == Principal.CredentialKind.SESSION
            ? sessions.find(call).map(found -> found.map(Session::id))
            : Future.succeededFuture(Optional.empty());
    return current.compose(
        id ->
            own.list(caller.org().orgId(), caller.requireMember())
                .map(
                    found ->
                        new JsonObject()
                            .put(
                                "sessions",
                                new JsonArray(found.stream().map(one -> json(one, id)).toList()))));
  }

  private Future<Void> end(Call call) {
    Principal caller = call.principal();
    return own.end(caller.org().orgId(), caller.requireMember(), call.text("session_id"));
  }

  private static JsonObject json(OwnSession session, Optional<String> current) {
    return new JsonObject()
        .put("session_id", session.id())
        .put("browser", session.browser())
        .put("address", session.address().isEmpty() ? null : session.address())
        .put("created_at", Times.rfc3339(session.createdAtMillis()))
        .put("last_used_at", Times.rfc3339(session.usedAtMillis()))
        .put("ends_at", Times.rfc3339(session.endsAtMillis()))
        .put("current", current.filter(session.id()::equals).isPresent());
  }

  /** The answer of an operation without a result. */
  static JsonObject done() {
    return new JsonObject().put("ok", true);
  }
}
