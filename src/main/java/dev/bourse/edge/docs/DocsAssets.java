package dev.bourse.edge.docs;

import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/**
 * The packaged documentation viewer: the few files of it that are served, under its version, so
 * that browsers keep them for good.
 */
final class DocsAssets {
  private static final String PACKAGE = "META-INF/maven/org.webjars/swagger-ui/pom.properties";
  private static final String FILES = "META-INF/resources/webjars/swagger-ui/";

  private static final Map<String, String> TYPES =
      Map.of(
          "swagger-ui.css", "text/css; charset=utf-8",
          "swagger-ui-bundle.js", "text/javascript; charset=utf-8",
          "swagger-ui-standalone-preset.js", "text/javascript; charset=utf-8",
          "favicon-32x32.png", "image/png");

  private static final Map<String, String> FOR_GOOD =
      Map.of("cache-control", "public, max-age=31536000, immutable");

  private final String version;

  DocsAssets() {
    Properties properties = new Properties();
    try (InputStream in = open(PACKAGE)) {
      properties.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException("reading " + PACKAGE + " failed", e);
    }
    this.version = properties.getProperty("version");
  }

  /** The page that loads the viewer. */
  String html() {
    return """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Bourse API</title>
    <link rel="stylesheet" href="/docs/{version}/swagger-ui.css">
    <link rel="icon" href="/docs/{version}/favicon-32x32.png">
    </head>
    <body>
    <div id="docs"></div>
    <script src="/docs/{version}/swagger-ui-bundle.js"></script>
    <script src="/docs/{version}/swagger-ui-standalone-preset.js"></script>
    <script src="/docs/start.js"></script>
    </body>
    </html>
    """
        .replace("{version}", version);
  }

  /** Whether a path is one of these files. */
  boolean has(String path) {
    return name(path).isPresent();
  }

  /** Reads one of these files from the jar, so call it off the event loop. */
  Page load(String path) {
    String name = name(path).orElseThrow(() -> new IllegalArgumentException(path));
    String resource = FILES + version + '/' + name;
    try (InputStream in = open(resource)) {
      return Page.of(TYPES.getOrDefault(name, ""), Buffer.buffer(in.readAllBytes()), FOR_GOOD);
    } catch (IOException e) {
      throw new UncheckedIOException("reading " + resource + " failed", e);
    }
  }

  private Optional<String> name(String path) {
    String folder = "/docs/" + version + "/";
    return path.startsWith(folder)
        ? Optional.of(path.substring(folder.length())).filter(TYPES::containsKey)
        : Optional.empty();
  }

  private static InputStream open(String resource) throws IOException {
    InputStream in = DocsAssets.class.getClassLoader().getResourceAsStream(resource);
    if (in == null) {
      throw new IOException(resource + " is not on the class path");
    }
    return in;
  }
}
