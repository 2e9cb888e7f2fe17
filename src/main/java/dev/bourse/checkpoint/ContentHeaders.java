package dev.bourse.checkpoint;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The headers stored bytes are served with. They are strangers' files under our address, so what a
 * browser might run is put in a sandbox or only ever saved.
 */
final class ContentHeaders {
  private static final String SANDBOX =
      "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

  private static final List<String> ACTIVE_ENDINGS =
      List.of("/html", "/xml", "/xsl", "+xml", "/xml-dtd", "/xml-external-parsed-entity");

  private static final Set<String> SCRIPT_SUBTYPES =
      Set.of(
          """
          javascript x-javascript ecmascript x-ecmascript jscript livescript typescript \
          x-typescript vbscript wasm x-sh x-shellscript x-csh x-bat x-python x-python-script \
          x-perl x-ruby x-powershell hta\
          """
              .split(" "));

  private static final List<String> SCRIPT_ENDINGS =
      List.of(
          ".js", ".mjs", ".cjs", ".ts", ".vbs", ".sh", ".bash", ".bat", ".cmd", ".ps1", ".py",
          ".pl", ".rb", ".hta", ".wasm");

  private ContentHeaders() {}

  /** The type without its parameters, in lower case. */
  static String mediaType(String contentType) {
    int end = contentType.indexOf(';');
    return (end < 0 ? contentType : contentType.substring(0, end)).trim().toLowerCase(Locale.ROOT);
  }

  /** Whether browsers run what is in files of this type: html, SVG and XML of any kind. */
  static boolean isActive(String mediaType) {
    return ACTIVE_ENDINGS.stream().anyMatch(mediaType::endsWith);
  }

  /** Whether it is a program in source form, by type or by name. */
  static boolean isScript(String mediaType, String fileName) {
    String subtype = mediaType.substring(mediaType.indexOf('/') + 1);
    String name = fileName.toLowerCase(Locale.ROOT);
    return SCRIPT_SUBTYPES.contains(subtype)
        || subtype.startsWith("javascript1.")
        || SCRIPT_ENDINGS.stream().anyMatch(name::endsWith);
  }

  /** The headers that go with the bytes of a file, except for their type. */
  static Map<String, String> of(Content content, boolean download) {
    Map<String, String> headers = new LinkedHashMap<>();
    String type = mediaType(content.contentType());
    headers.put(
        "Content-Disposition",
        disposition(content.fileName(), download || isScript(type, content.fileName())));
    if (isActive(type)) {
      headers.put("Content-Security-Policy", SANDBOX);
    }
    return headers;
  }

  /**
   * The header of RFC 6266: the name as it is for clients that know RFC 8187, and one that every
   * client can read.
   */
  static String disposition(String fileName, boolean attachment) {
    StringBuilder plain = new StringBuilder();
    StringBuilder exact = new StringBuilder();
    boolean isPlain = true;
    for (byte octet : fileName.getBytes(StandardCharsets.UTF_8)) {
      int c = octet & 0xff;
      if (isAttributeCharacter(c)) {
        exact.append((char) c);
      } else {
        exact.append('%').append(String.format("%02X", c));
      }
    }
    for (int i = 0; i < fileName.length(); i++) {
      char c = fileName.charAt(i);
      // Quotes, backslashes and percent signs are read in different ways by different clients.
      boolean safe = c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '%';
      isPlain &= safe;
      plain.append(safe ? c : '_');
    }
    return "%s; filename=\"%s\"%s"
        .formatted(
            attachment ? "attachment" : "inline",
            plain,
            isPlain ? "" : "; filename*=UTF-8''" + exact);
  }

  /** The characters that RFC 8187 leaves as they are. */
  private static boolean isAttributeCharacter(int c) {
    return (c >= '0' && c <= '9')
        || (c >= 'A' && c <= 'Z')
        || (c >= 'a' && c <= 'z')
        || "!#$&+-.^_`|~".indexOf(c) >= 0;
  }
}
