package dev.bourse.org;

import org.jspecify.annotations.Nullable;

/**
 * A member of an organization, as stored.
 *
 * @param orgId the organization
 * @param username unique within the organization
 * @param email the member's mail address
 * @param name the display name
 * @param createdAtMillis when they became a member
 * @param lastLoginAtMillis their last sign-in to this service, null before the first
 * @param suspendedAtMillis since when sign-ins are blocked, null if they are not
 */
public record Member(
    String orgId,
    String username,
    String email,
    String name,
    long createdAtMillis,
    @Nullable Long lastLoginAtMillis,
    @Nullable Long suspendedAtMillis) {
  public Member {
    if (orgId.isEmpty() || username.isEmpty()) {
      throw new IllegalArgumentException(
          "a member has an organization and a username, not '%s' and '%s'"
              .formatted(orgId, username));
    }
  }

  /** A new member. */
  public static Member joining(
      String orgId, String username, String email, String name, long nowMillis) {
    return new Member(orgId, username, email, name, nowMillis, null, null);
  }
}
