package dev.bourse.signin;

/**
 * Who a member is, in words that people use.
 *
 * @param orgDisplay what the organization is called
 * @param email the address mails go to
 * @param name the member's own name
 */
public record Profile(String orgDisplay, String email, String name) {}
