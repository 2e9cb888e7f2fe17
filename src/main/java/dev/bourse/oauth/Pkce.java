package dev.bourse.oauth;

import dev.bourse.core.Digests;
import dev.bourse.core.Secrets;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.regex.Pattern;

/**
 * Proof key for code exchange (RFC 7636), with method S256 only: the client that redeems a code is
 * the one that requested it.
 */
final class Pkce {
  private static final Pattern CHALLENGE = Pattern.compile("[A-Za-z0-9_-]{43}");
  private static final Pattern VERIFIER = Pattern.compile("[A-Za-z0-9._~-]{43,128}");

  private Pkce() {}

  /** Whether a text has the form of a verifier's SHA-256. */
  static boolean isChallenge(String challenge) {
    return CHALLENGE.matcher(challenge).matches();
  }

  static boolean isVerifierOf(String challenge, String verifier) {
    if (!VERIFIER.matcher(verifier).matches()) {
      return false;
    }
    byte[] digest = Digests.sha256(verifier.getBytes(StandardCharsets.US_ASCII));
    return Secrets.same(Base64.getUrlEncoder().withoutPadding().encodeToString(digest), challenge);
  }
}
