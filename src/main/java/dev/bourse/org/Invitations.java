package dev.bourse.org;

import io.vertx.core.Future;

/** Sends invitations by mail. */
public interface Invitations {
  /**
   * Counts an invitation that is about to be sent.
   *
   * @param email in lower case
   * @throws dev.bourse.core.ApiError {@code rate-limited} when the organization has sent too many,
   *     or too many to this address
   */
  void count(String orgId, String email);

  /**
   * Sends an invitation's sign-in link.
   *
   * @param email in lower case
   * @param expiresAtMillis when the link expires
   */
  Future<Void> send(String orgId, String email, long expiresAtMillis);
}
