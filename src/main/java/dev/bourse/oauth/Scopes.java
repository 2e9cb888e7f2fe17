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

/** Scopes in the spelling of clients and in words for members. */
final class Scopes {
  /** Requests a refresh token in OpenID Connect; here every grant has one. */
  private static final String OFFLINE = "offline_access";

  private Scopes() {}

  /** All scopes in the spelling of contracts. */
  static List<String> all() {
    return Arrays.stream(Scope.values()).map(Scope::label).toList();
  }

  /** The scopes of a request that names none: all that create no authority. */
  static Set<Scope> byDefault() {
    return Arrays.stream(Scope.values())
        .filter(scope -> !scope.createsAuthority())
        .collect(Collectors.toCollection(() -> EnumSet.noneOf(Scope.class)));
  }

  /** Whether one of the scopes creates authority, which requires a recent sign-in. */
  static boolean createAuthority(Set<Scope> scopes) {
    return scopes.stream().anyMatch(Scope::createsAuthority);
  }

  /** The scopes of {@link #byDefault} in the spelling of contracts. */
  static List<String> defaultLabels() {
    return byDefault().stream().map(Scope::label).toList();
  }

  /**
   * The requested scopes; {@link #byDefault} if the request names none. Unknown ones are ignored,
   * because clients request {@code offline_access} and the like from every server.
   *
   * @throws OAuthException if all of them are unknown
   */
  static Set<Scope> asked(@Nullable String scope) {
    if (scope == null || scope.isBlank()) {
      return byDefault();
    }
    Set<Scope> known = Scope.parse(scope);
    if (known.isEmpty()) {
      throw new OAuthException(
          OAuthException.INVALID_SCOPE,
          "scope: none of %s is known; expected some of %s"
              .formatted(Text.shown(scope), String.join(" ", all())));
    }
    return known;
  }

  /**
   * The scopes of refreshed tokens (RFC 6749, section 6): all granted ones if the request names
   * none. {@code offline_access} is ignored, as in the first request: clients repeat their request,
   * and already have the refresh token.
   *
   * @throws OAuthException if one was not granted or is unknown
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
                      new OAuthException(
                          OAuthException.INVALID_SCOPE,
                          "scope: the member did not allow %s; expected some of %s"
                              .formatted(Text.shown(label), Scope.text(granted)))));
    }
    return narrowed;
  }

  /** The scopes' permissions, in plain words. */
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
