package dev.bourse.org;

import org.jspecify.annotations.Nullable;

/**
 * A member's row.
 *
 * @param username unique within the organization
 * @param lastLoginAtMillis the last sign-in to this service, null before the first
 * @param suspendedAtMillis since when the account is suspended here, null when it is not
 */
public record Member(
    String username,
    String email,
    String name,
    @Nullable Long lastLoginAtMillis,
    @Nullable Long suspendedAtMillis) {}
