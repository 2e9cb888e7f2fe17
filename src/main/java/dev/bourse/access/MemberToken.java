package dev.bourse.access;

import java.util.Set;

/**
 * The claims of a member's token that is to be issued.
 *
 * @param audience the one resource it is for: the service's address, or that of its MCP endpoint
 * @param scopes what its bearer may do
 * @param clientId the application that acts for the member
 * @param grantId the grant that it goes with; empty for one that only the member's cutoff revokes
 * @param validMillis how long; whole seconds, at least 1, at most 30 days, or an hour with a grant
 */
public record MemberToken(
    String orgId,
    String username,
    String audience,
    Set<Scope> scopes,
    String clientId,
    String grantId,
    long validMillis) {

  public MemberToken {
    scopes = Set.copyOf(scopes);
    long most =
        grantId.isEmpty() ? SigningKeys.LONGEST_TOKEN_MILLIS : Revocations.LONGEST_GRANTED_MILLIS;
    if (validMillis < 1_000 || validMillis > most) {
      throw new IllegalArgumentException(
          "a token is valid for 1,000 to %d ms, not %d".formatted(most, validMillis));
    }
  }
}
