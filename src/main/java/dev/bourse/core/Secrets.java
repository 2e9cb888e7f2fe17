package dev.bourse.core;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Random secrets for cookies, links and tokens, and the values stored for and derived from them.
 */
public final class Secrets {
  /** The length of a secret in base-62 characters: 256 bits. */
  public static final int LENGTH = 43;

  private static final Pattern SHAPE = Pattern.compile("[0-9A-Za-z]{" + LENGTH + "}");

  private Secrets() {}

  /** A new secret; the source must be a cryptographic one in production. */
  public static String next(RandomGenerator random) {
    return Ids.base62(random, LENGTH);
  }

  /** Whether a text has the form of a secret. */
  public static boolean isOne(String text) {
    return SHAPE.matcher(text).matches();
  }

  /**
   * The stored form of a secret: its SHA-256 in hex. A slow digest would add nothing, because a
   * secret of 256 random bits cannot be guessed.
   */
  public static String stored(String secret) {
    return HexFormat.of().formatHex(Digests.sha256(secret.getBytes(StandardCharsets.UTF_8)));
  }

  /**
   * A value for one purpose that only a holder of the secret can compute: 43 URL-safe characters.
   */
  public static String derived(String secret, String purpose) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      return Base64.getUrlEncoder()
          .withoutPadding()
          .encodeToString(mac.doFinal(purpose.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("HmacSHA256 is missing from this Java platform", e);
    }
  }

  /** Compares two texts in a time that does not depend on where they differ. */
  public static boolean same(String one, String other) {
    return MessageDigest.isEqual(
        one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }
}
