package dev.bourse.org;

import io.vertx.core.Future;

/** Tells people that they are invited. */
@FunctionalInterface
public interface Invitations {
  /**
   * Sends an invitation's sign-in link.
   *
   * @param email in lower case
   * @param expiresAtMillis until when the link is to work
   */
  Future<Void> send(String orgId, String email, long expiresAtMillis);
}
