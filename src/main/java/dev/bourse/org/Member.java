package dev.bourse.org;

import org.jspecify.annotations.Nullable;

/**
 * A member of an organization, as stored.
 *
 * @param orgId the organization
 * @param username unique within the organization
 * @param email where mail reaches them
 * @param name for people to read
 * @param createdAtMillis since when they are a member
 * @param lastLoginAtMillis their last sign-in to this service, null before the first
 * @param suspendedAtMillis since when they may not sign in, null while they may
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

  /** A member who has just joined. */
  public static Member joining(
      String orgId, String username, String email, String name, long nowMillis) {
    return new Member(orgId, username, email, name, nowMillis, null, null);
  }
}
