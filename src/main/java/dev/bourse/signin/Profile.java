package dev.bourse.signin;

/**
 * A member's names, for display.
 *
 * @param orgDisplay the organization's display name
 * @param email the member's mail address
 * @param name the member's display name
 */
public record Profile(String orgDisplay, String email, String name) {}
