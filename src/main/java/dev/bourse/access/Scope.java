package dev.bourse.access;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** What a token may do. No scope implies another. */
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

  /** The scope as contracts, tokens and answers spell it. */
  public String label() {
    return label;
  }

  /** Those an API token can be minted with; the others are for members in person. */
  public static Set<Scope> grantableToTokens() {
    return Arrays.stream(values())
        .filter(scope -> scope.grantableToTokens)
        .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Whether its bearer can admit people and mint tokens, and so outlive and outgrow what it was
   * allowed itself.
   */
  public boolean createsAuthority() {
    return this == ORG_WRITE;
  }

  /** Whether it lets its bearer declare capacity. */
  public boolean writesCapacity() {
    return this == CAPACITY_WRITE || this == BID_WRITE;
  }

  public static Optional<Scope> find(String label) {
    return Arrays.stream(values()).filter(scope -> scope.label.equals(label)).findFirst();
  }

  /** The scopes as contracts, tokens and answers spell them, sorted. */
  public static List<String> labels(Set<Scope> scopes) {
    return scopes.stream().map(Scope::label).sorted().toList();
  }

  /** The scopes as tokens and rows hold them: sorted, with a space between two. */
  public static String text(Set<Scope> scopes) {
    return String.join(" ", labels(scopes));
  }

  /** The scopes of such a text; labels that are unknown are left out. */
  public static Set<Scope> parse(String labels) {
    Set<Scope> scopes = EnumSet.noneOf(Scope.class);
    for (String label : labels.split(" ", -1)) {
      find(label).ifPresent(scopes::add);
    }
    return scopes;
  }
}
