package dev.bourse.edge;

import dev.bourse.access.SessionAuthenticator;
import dev.bourse.access.SessionAuthenticator.SignedIn;
import dev.bourse.contract.OperationContract;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Secrets;
import dev.bourse.core.Text;
import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Authenticates browsers by a session cookie. A browser sends its cookies with requests of any
 * page, so every write must also prove that a page of this service sends it.
 */
final class SessionGate {
  private static final String SITE_HEADER = "Sec-Fetch-Site";
  private static final String SAME_ORIGIN = "same-origin";

  private final List<SessionAuthenticator> kinds;
  private final Supplier<String> baseUrl;

  /**
   * @param kinds the kinds of sessions
   * @param baseUrl returns the service's public address
   */
  SessionGate(List<SessionAuthenticator> kinds, Supplier<String> baseUrl) {
    this.kinds = kinds;
    this.baseUrl = baseUrl;
  }

  /**
   * Returns the valid session of a request; null if it has none, or has a token, which takes
   * precedence. Fails with {@code unauthorized} for a session that has ended, and with {@code
   * forbidden} for a request that another site's page may have sent.
   */
  @Nullable Future<SignedIn> find(HttpServerRequest request, Endpoint endpoint) {
    if (request.getHeader(HttpHeaders.AUTHORIZATION) != null
        || !request.headers().contains(HttpHeaders.COOKIE)) {
      return null;
    }
    for (SessionAuthenticator kind : kinds) {
      if (endpoint.schemes().contains(kind.scheme())) {
        String cookie = Cookies.find(request.headers(), kind.cookieName()).orElse(null);
        if (cookie != null) {
          return find(request, kind, cookie);
        }
      }
    }
    return null;
  }

  private Future<SignedIn> find(
      HttpServerRequest request, SessionAuthenticator kind, String cookie) {
    boolean isRead =
        request.method().equals(HttpMethod.GET) || request.method().equals(HttpMethod.HEAD);
    if (!isRead) {
      requireOwnPage(request);
    }
    return kind.authenticate(cookie)
        .map(
            found -> {
              SignedIn session = found.orElseThrow(SessionStanding::ended);
              if (!isRead) {
                requireToken(request, session.csrfToken());
              }
              return session;
            });
  }

  /** Returns the given sessions, of any kind, that are still valid. */
  Future<Set<String>> listInForce(Set<String> ids) {
    return Future.all(kinds.stream().map(kind -> kind.listInForce(ids)).toList())
        .map(
            found -> {
              Set<String> all = new HashSet<>();
              found.<Set<String>>list().forEach(all::addAll);
              return all;
            });
  }

  /** Checks the header in which browsers name the page's origin; other clients need not send it. */
  private void requireOwnPage(HttpServerRequest request) {
    String origin = request.getHeader(HttpHeaders.ORIGIN);
    if (origin != null && !origin.equals(baseUrl.get())) {
      throw Origins.foreign(origin, baseUrl.get());
    }
    String site = request.getHeader(SITE_HEADER);
    if (site != null && !site.equals(SAME_ORIGIN)) {
      throw ApiException.of(
          ErrorCode.FORBIDDEN, "%s is %s; expected %s", SITE_HEADER, Text.shown(site), SAME_ORIGIN);
    }
  }

  private static void requireToken(HttpServerRequest request, String expected) {
    String sent = request.getHeader(OperationContract.CSRF_HEADER);
    if (sent == null || !Secrets.same(sent, expected)) {
      throw ApiException.of(
          ErrorCode.FORBIDDEN,
          "%s is %s; expected the session's csrf, without which a session only reads",
          OperationContract.CSRF_HEADER,
          sent == null ? "missing" : "another's");
    }
  }
}
