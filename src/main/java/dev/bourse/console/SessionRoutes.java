package dev.bourse.console;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.signin.Profile;
import dev.bourse.signin.Session;
import dev.bourse.signin.Sessions;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;

/** The session of the browser that calls. */
public final class SessionRoutes {
  private final Sessions sessions;

  public SessionRoutes(Sessions sessions) {
    this.sessions = sessions;
  }

  public void bind(Operations operations) {
    operations.ok("readSession", this::read, json -> json);
  }

  private Future<JsonObject> read(Call call) {
    return sessions
        .find(call)
        .map(found -> found.orElseThrow(SessionRoutes::ended))
        .compose(session -> sessions.profile(session).map(profile -> json(session, profile)));
  }

  /** Somebody ended it, or removed its member, while the request was under way. */
  private static ApiError ended() {
    return ApiError.of(ErrorCode.UNAUTHORIZED, "the session has ended; sign in again");
  }

  private static JsonObject json(Session session, Profile profile) {
    return new JsonObject()
        .put("username", session.username())
        .put("name", profile.name())
        .put("email", profile.email())
        .put("org_id", session.orgId())
        .put("org_display", profile.orgDisplay())
        .put("csrf", session.csrfToken())
        .put("created_at", Times.rfc3339(session.createdAtMillis()))
        .put("expires_at", Times.rfc3339(session.expiresAtMillis()))
        .put("idle_ends_at", Times.rfc3339(session.idleEndsAtMillis()));
  }
}
