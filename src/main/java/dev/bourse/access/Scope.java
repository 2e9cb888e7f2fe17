package dev.bourse.access;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** A permission of a token. Scopes do not imply each other. */
public enum Scope {
  CAPACITY_READ("capacity:read", true),
  CAPACITY_WRITE("capacity:write", true),
  BID_READ("bid:read", true),
  BID_WRITE("bid:write", true),
  BILLING_READ("billing:read", true),
  CHECKPOINTS_READ("checkpoints:read", false),
  CHECKPOINTS_WRITE("checkpoints:write", false),
  ORG_READ("org:read", false),
  ORG_WRITE("org:write", false);

  private final String label;
  private final boolean grantableToTokens;

  Scope(String label, boolean grantableToTokens) {
    this.label = label;
    this.grantableToTokens = grantableToTokens;
  }

  /** Returns the scope's name in contracts, tokens and answers. */
  public String label() {
    return label;
  }

  /**
   * Returns the scopes that an API token can be minted with; the others are for members in person.
   */
  public static Set<Scope> grantableToTokens() {
    return Arrays.stream(values())
        .filter(scope -> scope.grantableToTokens)
        .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Returns whether a token with this scope can admit members and mint tokens, and so create
   * authority that is wider and lasts longer than its own.
   */
  public boolean createsAuthority() {
    return this == ORG_WRITE;
  }

  /** Returns whether a token with this scope may declare capacity. */
  public boolean writesCapacity() {
    return this == CAPACITY_WRITE || this == BID_WRITE;
  }

  /** Returns the scopes with these labels that an API token can be minted with. */
  public static Set<Scope> grantable(Iterable<?> labels) {
    Set<Scope> scopes = EnumSet.noneOf(Scope.class);
    for (Object label : labels) {
      find(String.valueOf(label)).filter(grantableToTokens()::contains).ifPresent(scopes::add);
    }
    return scopes;
  }

  public static Optional<Scope> find(String label) {
    return Arrays.stream(values()).filter(scope -> scope.label.equals(label)).findFirst();
  }

  /** Returns the names of scopes, sorted. */
  public static List<String> labels(Set<Scope> scopes) {
    return scopes.stream().map(Scope::label).sorted().toList();
  }

  /** Returns the names of scopes as tokens and rows store them: sorted, separated by spaces. */
  public static String text(Set<Scope> scopes) {
    return String.join(" ", labels(scopes));
  }

  /** Parses such a text; ignores unknown names. */
  public static Set<Scope> parse(String labels) {
    Set<Scope> scopes = EnumSet.noneOf(Scope.class);
    for (String label : labels.split(" ", -1)) {
      find(label).ifPresent(scopes::add);
    }
    return scopes;
  }
}
