package dev.bourse.mcp;

import io.vertx.core.json.JsonArray;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** HMAC-SHA256 over lists of texts, with one secret. */
final class Signer {
  private static final String ALGORITHM = "HmacSHA256";

  private final SecretKeySpec key;

  Signer(byte[] secret) {
    this.key = new SecretKeySpec(secret, ALGORITHM);
  }

  /**
   * The signature of the parts: 43 characters. Signs them as a JSON list, which separates them
   * unambiguously.
   */
  String sign(String... parts) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      JsonArray list = new JsonArray();
      for (String part : parts) {
        list.add(part);
      }
      return Base64.getUrlEncoder()
          .withoutPadding()
          .encodeToString(mac.doFinal(list.encode().getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
    }
  }

  /** Whether a signature is valid for these parts, in constant time. */
  boolean matches(String signature, String... parts) {
    return MessageDigest.isEqual(
        sign(parts).getBytes(StandardCharsets.UTF_8), signature.getBytes(StandardCharsets.UTF_8));
  }
}
