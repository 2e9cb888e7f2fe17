package dev.bourse.access;

/**
 * A browser in which an operator is signed in.
 *
 * @param id its id in the store, which is not a secret
 * @param operator the operator whose token started it
 * @param csrfToken the token that its writes send in a header
 * @param expiresAtMillis when it expires
 */
public record OperatorSession(
    String id, Operator operator, String csrfToken, long createdAtMillis, long expiresAtMillis) {}
