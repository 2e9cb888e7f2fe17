package dev.bourse.delivery;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signatures of the Standard Webhooks specification: HMAC-SHA256 over id, timestamp and body. */
public final class Signature {
  /** Prefix of a secret; base64 follows. */
  private static final String PREFIX = "whsec_";

  /** The specification requires 24 to 64. */
  static final int SECRET_BYTES = 32;

  private static final String HMAC = "HmacSHA256";

  private Signature() {}

  /** Returns a secret as members copy it. */
  public static String text(byte[] secret) {
    return PREFIX + Base64.getEncoder().encodeToString(secret);
  }

  /** Returns the value of the header: a signature for each secret. */
  public static String of(List<byte[]> secrets, String id, long timestampSeconds, byte[] body) {
    byte[] head = "%s.%d.".formatted(id, timestampSeconds).getBytes(StandardCharsets.UTF_8);
    return secrets.stream()
        .map(secret -> "v1," + Base64.getEncoder().encodeToString(hmac(secret, head, body)))
        .collect(Collectors.joining(" "));
  }

  private static byte[] hmac(byte[] secret, byte[] head, byte[] body) {
    try {
      Mac mac = Mac.getInstance(HMAC);
      mac.init(new SecretKeySpec(secret, HMAC));
      mac.update(head);
      return mac.doFinal(body);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the JDK has no " + HMAC, e);
    }
  }
}
