package dev.bourse.signin;

/**
 * A signed-in browser.
 *
 * @param id its key in the store, useless to a thief
 * @param csrfToken the value of the hidden field {@code csrf} in its forms, and of a header of its
 *     scripts' writes
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
