package dev.bourse.org;

import io.vertx.core.Future;

/** Sends invitations by mail. */
public interface Invitations {
  /**
   * An invitation.
   *
   * @param orgId the organization that the recipient may join
   * @param display its display name
   * @param inviter the e-mail address of the member who sends it; empty for an operator
   * @param email the recipient, in lower case
   * @param expiresAtMillis when the link expires
   */
  record Invitation(
      String orgId, String display, String inviter, String email, long expiresAtMillis) {}

  /**
   * Counts an invitation that is about to be sent.
   *
   * @param email in lower case
   * @throws dev.bourse.core.ApiException {@code rate-limited} when the organization has sent too
   *     many, or too many to this address
   */
  void count(String orgId, String email);

  /** Sends an invitation's sign-in link. */
  Future<Void> send(Invitation invitation);
}
