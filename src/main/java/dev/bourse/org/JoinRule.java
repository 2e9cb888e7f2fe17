package dev.bourse.org;

import org.jspecify.annotations.Nullable;

/**
 * Who may join an organization.
 *
 * @param ruleId {@code jr_…}
 * @param kind {@code domain}: any sign-in with an address there; {@code email}: one address
 * @param value the domain or the address, in lower case
 * @param createdBy who added it, as audit rows name actors
 * @param linkExpiresAtMillis until when the link that was sent works, null when none was
 */
record JoinRule(
    String ruleId,
    String kind,
    String value,
    long createdAtMillis,
    String createdBy,
    @Nullable Long linkExpiresAtMillis) {
  static final String DOMAIN = "domain";
  static final String EMAIL = "email";
}
