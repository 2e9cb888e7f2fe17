package dev.bourse.webhooks;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signatures as Standard Webhooks has them: HMAC-SHA256 over id, timestamp and body. */
final class Signature {
  /** What a secret begins with; base64 follows. */
  private static final String PREFIX = "whsec_";

  /** As the specification wants it: 24 to 64. */
  static final int SECRET_BYTES = 32;

  private static final String HMAC = "HmacSHA256";

  private Signature() {}

  /** A secret as members copy it. */
  static String text(byte[] secret) {
    return PREFIX + Base64.getEncoder().encodeToString(secret);
  }

  /** The value of the header: a signature for each secret. */
  static String of(List<byte[]> secrets, String id, long timestampSeconds, String body) {
    byte[] signed =
        "%s.%d.%s".formatted(id, timestampSeconds, body).getBytes(StandardCharsets.UTF_8);
    return secrets.stream()
        .map(secret -> "v1," + Base64.getEncoder().encodeToString(hmac(secret, signed)))
        .collect(Collectors.joining(" "));
  }

  private static byte[] hmac(byte[] secret, byte[] signed) {
    try {
      Mac mac = Mac.getInstance(HMAC);
      mac.init(new SecretKeySpec(secret, HMAC));
      return mac.doFinal(signed);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the JDK has no " + HMAC, e);
    }
  }
}
