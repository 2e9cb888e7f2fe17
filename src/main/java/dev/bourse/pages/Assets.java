package dev.bourse.pages;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The files that pages load, such as scripts, the style sheet and the icon, as {@link AssetFiles}
 * wrote them at the build. Their address contains a digest of all of them, so that browsers can
 * keep them for good and never mix those of two versions.
 */
public final class Assets {
  static final String FOLDER = "assets/";
  static final String INDEX = "index.json";

  /** The page that loads the console's scripts. */
  static final String SHELL = "shell.html";

  /** A year, the longest time that some caches accept. */
  private static final Map<String, String> FOR_GOOD =
      Map.of(
          "cache-control",
          "public, max-age=31536000, immutable",
          "cross-origin-resource-policy",
          "same-origin");

  private final JsonObject index;

  private Assets(JsonObject index) {
    this.index = index;
  }

  /** Loads the index from the class path. Blocks: call it off the event loop. */
  public static Assets load() {
    return new Assets(bytes(INDEX).toJsonObject());
  }

  /** The path of all files, such as {@code /assets/4f1c…}. */
  public String base() {
    return index.getString("base");
  }

  /** The names of the files, such as {@code console/app.js}. */
  public Set<String> names() {
    return files().fieldNames();
  }

  private JsonObject files() {
    return index.getJsonObject("files");
  }

  /**
   * A file under the digest's address, which may be cached for good. Blocks: call it off the event
   * loop.
   */
  public ServedPage file(String name) {
    return read(name, files().getJsonObject(name), FOR_GOOD);
  }

  /** The style sheet or the icon under a permanent address, which may be cached briefly. */
  public ServedPage keptBriefly(String name) {
    return file(name).with(Map.of("cache-control", "public, max-age=300"));
  }

  /** The page that loads the console's scripts, with its security headers. */
  public ServedPage shell() {
    JsonObject shell = index.getJsonObject("shell");
    return read(SHELL, shell, PageHeaders.scripted(shell.getString("import_map")));
  }

  private static ServedPage read(String name, JsonObject facts, Map<String, String> headers) {
    Map<String, Buffer> encodings = new LinkedHashMap<>();
    facts
        .getJsonArray("encodings")
        .forEach(coding -> encodings.put(String.valueOf(coding), bytes(name + '.' + coding)));
    return new ServedPage(
        200, facts.getString("type"), bytes(name), facts.getString("etag"), headers, encodings);
  }

  private static Buffer bytes(String name) {
    String path = FOLDER + name;
    try (InputStream in = Assets.class.getClassLoader().getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalStateException(path + " is not on the class path; the build writes it");
      }
      return Buffer.buffer(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException("reading " + path + " failed", e);
    }
  }
}
