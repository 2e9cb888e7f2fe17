package dev.bourse.pages;

import dev.bourse.core.Digests;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Base64;

/**
 * A file that all pages load.
 *
 * @param bytes what it holds
 * @param mediaType its value of {@code Content-Type}
 * @param etag its strong validator in quoted form
 */
public record PageAsset(Buffer bytes, String mediaType, String etag) {
  /** The style of all pages, from the class path. */
  public static PageAsset style() {
    return load("pages/style.css", "text/css; charset=utf-8");
  }

  /** The icon that browsers show beside a page's title; without one they ask for it in vain. */
  public static PageAsset icon() {
    return load("pages/icon.svg", "image/svg+xml");
  }

  private static PageAsset load(String path, String mediaType) {
    try (InputStream in = PageAsset.class.getClassLoader().getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalStateException(path + " is not on the class path");
      }
      byte[] bytes = in.readAllBytes();
      String digest = Base64.getUrlEncoder().withoutPadding().encodeToString(Digests.sha256(bytes));
      return new PageAsset(Buffer.buffer(bytes), mediaType, '"' + digest.substring(0, 22) + '"');
    } catch (IOException e) {
      throw new UncheckedIOException("reading " + path + " failed", e);
    }
  }
}
