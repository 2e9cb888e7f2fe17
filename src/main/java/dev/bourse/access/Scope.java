package dev.bourse.access;

import java.util.Optional;

/** What a token may do. No scope implies another. */
public enum Scope {
  CAPACITY_READ("capacity:read"),
  CAPACITY_WRITE("capacity:write"),
  BID_READ("bid:read"),
  BID_WRITE("bid:write"),
  BILLING_READ("billing:read");

  private final String label;

  Scope(String label) {
    this.label = label;
  }

  /** The scope as contracts, tokens and answers spell it. */
  public String label() {
    return label;
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
