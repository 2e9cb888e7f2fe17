package dev.bourse.access;

import io.vertx.core.Future;
import java.util.Optional;
import java.util.Set;

/**
 * Finds who is signed in at a browser, by the cookie it sends. Unlike a token's, a session's being
 * in force is asked of the store at each request: people make few.
 */
public interface SessionAuthenticator {
  /**
   * A browser in which somebody is signed in.
   *
   * @param id names the session; worth nothing to a thief
   * @param csrfToken what a page of ours sends along with every write, and no other page can know
   */
  record SignedIn(String id, Caller caller, String csrfToken) {}

  /** The security scheme that its callers satisfy, as contracts spell it. */
  String scheme();

  /** The cookie in which browsers send a session's secret. */
  String cookieName();

  /** Who a cookie's value stands for; empty when no session of it is in force. */
  Future<Optional<SignedIn>> authenticate(String cookie);

  /** Those of these sessions that are in force still. That does not count as using them. */
  Future<Set<String>> listInForce(Set<String> ids);
}
