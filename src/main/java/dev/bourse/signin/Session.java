package dev.bourse.signin;

/**
 * A signed-in browser.
 *
 * @param id names it in the store; worth nothing to a thief
 * @param csrfToken what its forms carry in the hidden field {@code csrf}, and its scripts' writes
 *     in a header
 * @param expiresAtMillis when it ends at the latest
 * @param idleEndsAtMillis when it ends unless it is used before
 */
public record Session(
    String id,
    String orgId,
    String username,
    String csrfToken,
    long createdAtMillis,
    long expiresAtMillis,
    long idleEndsAtMillis) {}
