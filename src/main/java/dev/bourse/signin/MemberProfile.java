package dev.bourse.signin;

/**
 * Who a member is, for people.
 *
 * @param orgDisplay the name of their organization
 */
public record MemberProfile(String orgDisplay, String email, String name) {}
