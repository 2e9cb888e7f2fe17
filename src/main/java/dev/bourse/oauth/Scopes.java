package dev.bourse.oauth;

import dev.bourse.access.Scope;
import dev.bourse.core.Text;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Scopes as clients write them and as members read them. */
final class Scopes {
  /** Asks for a refresh token in OpenID Connect; here every grant has one. */
  private static final String OFFLINE = "offline_access";

  private Scopes() {}

  /** Every scope there is, as contracts spell it. */
  static List<String> all() {
    return Arrays.stream(Scope.values()).map(Scope::label).toList();
  }

  /** What is asked for when no scope is named: all that create no authority. */
  static Set<Scope> byDefault() {
    return Arrays.stream(Scope.values())
        .filter(scope -> !scope.createsAuthority())
        .collect(Collectors.toCollection(() -> EnumSet.noneOf(Scope.class)));
  }

  /** Whether one of them creates authority, which takes a recent sign-in to allow. */
  static boolean createAuthority(Set<Scope> scopes) {
    return scopes.stream().anyMatch(Scope::createsAuthority);
  }

  /** The scopes of {@link #byDefault}, as contracts spell them. */
  static List<String> defaultLabels() {
    return byDefault().stream().map(Scope::label).toList();
  }

  /**
   * The scopes asked for; {@link #byDefault} when nothing is asked for. What is unknown is left out
   * (clients ask for {@code offline_access} and the like of every server).
   *
   * @throws OAuthError when none of them is known
   */
  static Set<Scope> asked(@Nullable String scope) {
    if (scope == null || scope.isBlank()) {
      return byDefault();
    }
    Set<Scope> known = Scope.parse(scope);
    if (known.isEmpty()) {
      throw new OAuthError(
          OAuthError.INVALID_SCOPE,
          "scope: none of %s is known; expected some of %s"
              .formatted(Text.shown(scope), String.join(" ", all())));
    }
    return known;
  }

  /**
   * The scopes that tokens of a refresh are to have (RFC 6749, section 6): all that were granted
   * when nothing is asked for. {@code offline_access} is left out, as when permission was asked
   * for: a client that repeats what it asked for has its refresh token.
   *
   * @throws OAuthError when one was not granted, an unknown one too
   */
  static Set<Scope> narrowed(@Nullable String scope, Set<Scope> granted) {
    if (scope == null || scope.isBlank()) {
      return granted;
    }
    List<String> labels = new ArrayList<>(List.of(scope.strip().split(" +", -1)));
    labels.remove(OFFLINE);
    if (labels.isEmpty()) {
      return granted;
    }
    Set<Scope> narrowed = EnumSet.noneOf(Scope.class);
    for (String label : labels) {
      narrowed.add(
          Scope.find(label)
              .filter(granted::contains)
              .orElseThrow(
                  () ->
                      new OAuthError(
                          OAuthError.INVALID_SCOPE,
                          "scope: the member did not allow %s; expected some of %s"
                              .formatted(Text.shown(label), Scope.text(granted)))));
    }
    return narrowed;
  }

  /** What scopes allow, in plain words. */
  static List<String> words(Set<Scope> scopes) {
    return Arrays.stream(Scope.values()).filter(scopes::contains).map(Scopes::words).toList();
  }

  private static String words(Scope scope) {
    return switch (scope) {
      case CAPACITY_READ -> "See clusters, their nodes and what they cost";
      case CAPACITY_WRITE ->
          "Raise, lower and swap capacity, which spends money and can end running work";
      case BID_READ -> "See bids";
      case BID_WRITE -> "Place and change bids, which spends money";
      case BILLING_READ -> "See bills";
      case CHECKPOINTS_READ -> "Read the organization's checkpoints";
      case CHECKPOINTS_WRITE -> "Publish and delete checkpoints in your name";
      case ORG_READ -> "See members, tokens and the audit trail of the organization";
      case ORG_WRITE ->
          "Invite and remove members, mint and revoke tokens, create and retire clusters";
    };
  }
}
