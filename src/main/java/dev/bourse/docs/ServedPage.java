package dev.bourse.docs;

import dev.bourse.core.Digests;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;

/** Something served to anyone: a contract, a text, a piece of the documentation. */
public record ServedPage(
    int status, String contentType, Buffer body, String etag, Map<String, String> headers) {

  static ServedPage of(String contentType, Buffer body, Map<String, String> headers) {
    byte[] digest = Digests.sha256(body.getBytes());
    String etag = Base64.getUrlEncoder().withoutPadding().encodeToString(digest).substring(0, 22);
    return new ServedPage(200, contentType, body, '"' + etag + '"', headers);
  }

  static ServedPage of(String contentType, String text, Map<String, String> headers) {
    return of(contentType, Buffer.buffer(text.getBytes(StandardCharsets.UTF_8)), headers);
  }

  /** Its text; empty for what only leads elsewhere. */
  public Optional<String> text() {
    return status == 200 ? Optional.of(body.toString()) : Optional.empty();
  }
}
