package dev.bourse.access;

import io.vertx.core.Future;
import java.util.Optional;
import java.util.Set;

/**
 * Authenticates browsers by their session cookie. Unlike a token, a session is checked in the store
 * at each request, because people send few requests.
 */
public interface SessionAuthenticator {
  /**
   * A browser in which somebody is signed in.
   *
   * @param id the session's id, which is not a secret
   * @param csrfToken the token that the service's pages send with every write; other sites' pages
   *     cannot know it
   */
  record SignedIn(String id, Caller caller, String csrfToken) {}

  /** Returns the security scheme of its callers, as named in contracts. */
  String scheme();

  /** Returns the name of the session cookie. */
  String cookieName();

  /** Returns the caller of a cookie's value; empty if it has no valid session. */
  Future<Optional<SignedIn>> authenticate(String cookie);

  /** Returns the given sessions that are still valid. The call does not count as a use of them. */
  Future<Set<String>> listInForce(Set<String> ids);
}
