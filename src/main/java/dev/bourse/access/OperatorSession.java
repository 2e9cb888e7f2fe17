package dev.bourse.access;

/**
 * A browser in which an operator is signed in.
 *
 * @param id names it in the store; worth nothing to a thief
 * @param operator whose token it began with
 * @param csrfToken what its writes carry in a header
 * @param expiresAtMillis when it ends
 */
public record OperatorSession(
    String id, Operator operator, String csrfToken, long createdAtMillis, long expiresAtMillis) {}
