package dev.bourse.pages;

import dev.bourse.core.Digests;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;

/**
 * A public resource: a contract, a text, a page of the documentation, a file of the console.
 *
 * @param etag the strong validator of {@code body}, in quoted form
 * @param encodings precompressed forms of the body, by the name of the content coding; the best
 *     first
 */
public record ServedPage(
    int status,
    String contentType,
    Buffer body,
    String etag,
    Map<String, String> headers,
    Map<String, Buffer> encodings) {

  /** A body with the validator computed from it. */
  public static ServedPage of(String contentType, Buffer body, Map<String, String> headers) {
    return new ServedPage(200, contentType, body, etag(body.getBytes()), headers, Map.of());
  }

  /** A text in UTF-8. */
  public static ServedPage of(String contentType, String text, Map<String, String> headers) {
    return of(contentType, Buffer.buffer(text.getBytes(StandardCharsets.UTF_8)), headers);
  }

  static String etag(byte[] bytes) {
    String digest = Base64.getUrlEncoder().withoutPadding().encodeToString(Digests.sha256(bytes));
    return '"' + digest.substring(0, 22) + '"';
  }

  /**
   * The validator of the body in a content coding. Each coding has its own, because the bytes
   * differ.
   */
  public String etag(String encoding) {
    return etag.substring(0, etag.length() - 1) + '-' + encoding + '"';
  }

  /** The same resource with other headers. */
  public ServedPage with(Map<String, String> others) {
    return new ServedPage(status, contentType, body, etag, others, encodings);
  }

  /** The text of the body. */
  public Optional<String> text() {
    return status == 200 ? Optional.of(body.toString()) : Optional.empty();
  }
}
