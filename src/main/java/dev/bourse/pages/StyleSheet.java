package dev.bourse.pages;

import dev.bourse.core.Digests;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Base64;

/**
 * The style of all pages.
 *
 * @param css its text
 * @param etag its strong validator in quoted form
 */
public record StyleSheet(Buffer css, String etag) {
  /** Reads it from the class path. */
  public static StyleSheet load() {
    try (InputStream in =
        StyleSheet.class.getClassLoader().getResourceAsStream("pages/style.css")) {
      if (in == null) {
        throw new IllegalStateException("pages/style.css is not on the class path");
      }
      byte[] bytes = in.readAllBytes();
      String digest = Base64.getUrlEncoder().withoutPadding().encodeToString(Digests.sha256(bytes));
      return new StyleSheet(Buffer.buffer(bytes), '"' + digest.substring(0, 22) + '"');
    } catch (IOException e) {
      throw new UncheckedIOException("reading pages/style.css failed", e);
    }
  }
}
