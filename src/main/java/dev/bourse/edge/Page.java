package dev.bourse.edge;

import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Map;

/** Something served to anyone: a contract, a text, a piece of the documentation. */
record Page(int status, String contentType, Buffer body, String etag, Map<String, String> headers) {

  static Page of(String contentType, Buffer body, Map<String, String> headers) {
    return new Page(200, contentType, body, etag(body), headers);
  }

  static Page of(String contentType, String text, Map<String, String> headers) {
    return of(contentType, Buffer.buffer(text.getBytes(StandardCharsets.UTF_8)), headers);
  }

  private static String etag(Buffer body) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(body.getBytes());
      return '"'
          + Base64.getUrlEncoder().withoutPadding().encodeToString(digest).substring(0, 22)
          + '"';
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
