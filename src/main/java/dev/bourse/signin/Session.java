package dev.bourse.signin;

/**
 * A signed-in browser.
 *
 * @param id names it in the store; worth nothing to a thief
 * @param csrfToken what its forms carry in the hidden field {@code csrf}
 */
public record Session(
    String id, String orgId, String username, String csrfToken, long createdAtMillis) {}
