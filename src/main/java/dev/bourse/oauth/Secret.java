package dev.bourse.oauth;

import dev.bourse.core.Digests;
import dev.bourse.core.Ids;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;

/** Codes and tokens that are good for what they name, and PKCE (RFC 7636). */
final class Secret {
  /** How refresh tokens begin, so that a scan for leaked secrets finds them. */
  static final String REFRESH = "brr_";

  static final String CODE = "brk_";
  static final String DEVICE = "brv_";

  /** Base-62 characters: 256 bits. */
  private static final int LENGTH = 43;

  private static final Pattern CHALLENGE = Pattern.compile("[A-Za-z0-9_-]{43}");
  private static final Pattern VERIFIER = Pattern.compile("[A-Za-z0-9._~-]{43,128}");

  private Secret() {}

  static String next(String prefix, RandomGenerator random) {
    return prefix + Ids.base62(random, LENGTH);
  }

  /** What is stored of one. A slow digest would add nothing: it cannot be guessed. */
  static String stored(String secret) {
    return HexFormat.of().formatHex(Digests.sha256(secret.getBytes(StandardCharsets.UTF_8)));
  }

  /** Whether it could be the SHA-256 of a verifier. */
  static boolean isChallenge(String challenge) {
    return CHALLENGE.matcher(challenge).matches();
  }

  static boolean isVerifierOf(String challenge, String verifier) {
    if (!VERIFIER.matcher(verifier).matches()) {
      return false;
    }
    byte[] digest = Digests.sha256(verifier.getBytes(StandardCharsets.US_ASCII));
    return MessageDigest.isEqual(
        Base64.getUrlEncoder().withoutPadding().encode(digest),
        challenge.getBytes(StandardCharsets.US_ASCII));
  }
}
