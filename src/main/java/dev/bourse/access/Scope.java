package dev.bourse.access;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/** What a token may do. No scope implies another. */
public enum Scope {
  CAPACITY_READ("capacity:read", true),
  CAPACITY_WRITE("capacity:write", true),
  BID_READ("bid:read", true),
  BID_WRITE("bid:write", true),
  BILLING_READ("billing:read", true),
  CHECKPOINTS_READ("checkpoints:read", false),
  CHECKPOINTS_WRITE("checkpoints:write", false),
  ORG_READ("org:read", false);

  private static final Set<Scope> GRANTABLE_TO_TOKENS = EnumSet.noneOf(Scope.class);

  static {
    for (Scope scope : values()) {
      if (scope.grantableToTokens) {
        GRANTABLE_TO_TOKENS.add(scope);
      }
    }
  }

  private final String label;
  private final boolean grantableToTokens;

  Scope(String label, boolean grantableToTokens) {
    this.label = label;
    this.grantableToTokens = grantableToTokens;
  }

  /** The scope as contracts, tokens and answers spell it. */
  public String label() {
    return label;
  }

  /** Those an API token can be minted with; the others are for members in person. */
  public static Set<Scope> grantableToTokens() {
    return Set.copyOf(GRANTABLE_TO_TOKENS);
  }

  public static Optional<Scope> find(String label) {
    for (Scope scope : values()) {
      if (scope.label.equals(label)) {
        return Optional.of(scope);
      }
    }
    return Optional.empty();
  }
}
