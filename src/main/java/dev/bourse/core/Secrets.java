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

/** Random secrets that cookies, links and tokens carry, and what is stored and derived of them. */
public final class Secrets {
  /** Their length in base-62 characters: 256 bits. */
  public static final int LENGTH = 43;

  private static final Pattern SHAPE = Pattern.compile("[0-9A-Za-z]{" + LENGTH + "}");

  private Secrets() {}

  /** A new one; the source must be a cryptographic one in production. */
  public static String next(RandomGenerator random) {
    return Ids.base62(random, LENGTH);
  }

  /** Whether it could be one. */
  public static boolean isOne(String text) {
    return SHAPE.matcher(text).matches();
  }

  /**
   * What is stored of a secret: its SHA-256 in hex. A slow digest would add nothing: it cannot be
   * guessed.
   */
  public static String stored(String secret) {
    return HexFormat.of().formatHex(Digests.sha256(secret.getBytes(StandardCharsets.UTF_8)));
  }

  /** What only a holder of the secret can know, for one purpose. 43 URL-safe characters. */
  public static String derived(String secret, String purpose) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      return Base64.getUrlEncoder()
          .withoutPadding()
          .encodeToString(mac.doFinal(purpose.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has HmacSHA256", e);
    }
  }

  /** Compares in a time that does not tell where the first difference is. */
  public static boolean same(String one, String other) {
    return MessageDigest.isEqual(
        one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }
}
