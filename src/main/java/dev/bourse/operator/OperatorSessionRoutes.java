package dev.bourse.operator;

import dev.bourse.access.OperatorSession;
import dev.bourse.access.OperatorSessions;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.operator.OperatorSignInJson;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.Map;

/** Operations of the operator contract on the calling browser's session. */
public final class OperatorSessionRoutes {
  private final OperatorSessions sessions;

  public OperatorSessionRoutes(OperatorSessions sessions) {
    this.sessions = sessions;
  }

  public void bind(Operations operations) {
    operations
        .bind("startOperatorSession", this::start)
        .ok("readOperatorSession", this::find, OperatorSessionRoutes::json)
        .bind("endOperatorSession", this::end);
  }

  private Future<Answer> start(Call call) {
    call.requireCertificate();
    return sessions
        .start(
            OperatorSignInJson.read(call.body()).token().strip(),
            call.cookie(sessions.cookieName()))
        .map(
            started ->
                Answer.ok(
                    json(started.session()),
                    setCookie(
                        started.secret(),
                        Duration.ofMillis(
                            started.session().expiresAtMillis()
                                - started.session().createdAtMillis()))));
  }

  private Future<OperatorSession> find(Call call) {
    return sessions
        .find(call.cookie(sessions.cookieName()).orElse(""))
        // The session ended during the request.
        .map(
            found ->
                found.orElseThrow(
                    () ->
                        ApiException.of(
                            ErrorCode.UNAUTHORIZED, "the session has ended; sign in again")));
  }

  private Future<Answer> end(Call call) {
    return find(call)
        .compose(sessions::end)
        .map(ended -> Answer.ok(new JsonObject().put("ok", true), setCookie("", Duration.ZERO)));
  }

  /**
   * Strict is enough: links from other sites open a page of ours, which then sends its own
   * requests.
   */
  private Map<String, String> setCookie(String value, Duration age) {
    return Map.of(
        "set-cookie",
        "%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%d%s"
            .formatted(
                sessions.cookieName(),
                value,
                age.toSeconds(),
                sessions.isSecure() ? "; Secure" : ""));
  }

  private static JsonObject json(OperatorSession session) {
    return new JsonObject()
        .put("name", session.operator().name())
        .put("actor", session.operator().actor())
        .put("token_id", session.operator().tokenId())
        .put("read_only", session.operator().reach().isReadOnly())
        .put("site", session.operator().site())
        .put("csrf", session.csrfToken())
        .put("created_at", Times.rfc3339(session.createdAtMillis()))
        .put("expires_at", Times.rfc3339(session.expiresAtMillis()));
  }
}
