package dev.bourse.access;

import java.util.Set;

/**
 * The claims of a member's token to be issued.
 *
 * @param audience the resource it is for: the service's address, or that of its MCP endpoint
 * @param scopes the permitted scopes
 * @param clientId the application that acts for the member
 * @param grantId its grant; empty for a token that only the member's cutoff revokes
 * @param validMillis its lifetime; whole seconds, at least 1, at most 30 days, or an hour with a
 *     grant to an application
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
        grantId.isEmpty()
            ? SigningKeys.LONGEST_TOKEN_MILLIS
            : Revocations.longestTokenMillis(grantId);
    if (validMillis < 1_000 || validMillis > most) {
      throw new IllegalArgumentException(
          "a token is valid for 1,000 to %d ms, not %d".formatted(most, validMillis));
    }
  }
}
