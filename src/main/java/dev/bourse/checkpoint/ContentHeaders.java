package dev.bourse.checkpoint;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Response headers of stored bytes. They are untrusted files under the service's address, so
 * browsers show them in a sandbox, and files that a browser or the system would run or install are
 * always attachments.
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

  /**
   * Types that a system offers to install or to start when opened: certificates, keys, profiles of
   * devices and networks, applications and links to them.
   */
  private static final Set<String> INSTALLED_SUBTYPES =
      Set.of(
          """
          x-x509-ca-cert x-x509-user-cert x-x509-server-cert x-x509-email-cert x-x509-next-ca-cert \
          x-x509-ca-ra-cert pkix-cert pkix-crl pkix-attr-cert pkcs8 pkcs8-encrypted pkcs10 pkcs12 \
          x-pkcs12 pkcs7-mime x-pkcs7-mime x-pkcs7-certificates x-pkcs7-certreqresp x-pkcs7-crl \
          pem-certificate-chain x-pem-file x-apple-aspen-config x-apple-aspen-config-encrypted \
          x-apple-aspen-mdm x-wifi-config vnd.wfa.wsc x-openvpn-profile x-ns-proxy-autoconfig \
          x-java-jnlp-file x-ms-application x-ms-xbap x-ms-shortcut x-mswinurl internet-shortcut \
          x-xpinstall x-chrome-extension x-msdownload x-msi vnd.microsoft.portable-executable \
          vnd.android.package-archive x-itunes-ipa x-desktop\
          """
              .split(" "));

  private static final List<String> INSTALLED_ENDINGS =
      List.of(
          ".crt",
          ".cer",
          ".der",
          ".crl",
          ".p7b",
          ".p7c",
          ".p12",
          ".pfx",
          ".mobileconfig",
          ".mobileprovision",
          ".ovpn",
          ".jnlp",
          ".application",
          ".xbap",
          ".reg",
          ".lnk",
          ".url",
          ".webloc",
          ".desktop",
          ".scf",
          ".msi",
          ".exe",
          ".apk",
          ".xpi",
          ".crx");

  private ContentHeaders() {}

  /** Returns the type without its parameters, in lower case. */
  static String mediaType(String contentType) {
    int end = contentType.indexOf(';');
    return (end < 0 ? contentType : contentType.substring(0, end)).trim().toLowerCase(Locale.ROOT);
  }

  /** Returns true if browsers run code in files of this type: html, SVG and XML of any kind. */
  static boolean isActive(String mediaType) {
    return ACTIVE_ENDINGS.stream().anyMatch(mediaType::endsWith);
  }

  /** Returns true for a program in source form, by type or by name. */
  static boolean isScript(String mediaType, String fileName) {
    String subtype = mediaType.substring(mediaType.indexOf('/') + 1);
    String name = fileName.toLowerCase(Locale.ROOT);
    return SCRIPT_SUBTYPES.contains(subtype)
        || subtype.startsWith("javascript1.")
        || SCRIPT_ENDINGS.stream().anyMatch(name::endsWith);
  }

  /** Returns true if a system offers to install or start it, by type or by name. */
  static boolean isInstalled(String mediaType, String fileName) {
    String name = fileName.toLowerCase(Locale.ROOT);
    return INSTALLED_SUBTYPES.contains(mediaType.substring(mediaType.indexOf('/') + 1))
        || INSTALLED_ENDINGS.stream().anyMatch(name::endsWith);
  }

  /** Returns the headers of a file's bytes, except for their type. */
  static Map<String, String> of(Content content, boolean download) {
    Map<String, String> headers = new LinkedHashMap<>();
    String type = mediaType(content.contentType());
    String name = content.fileName();
    headers.put(
        "Content-Disposition",
        disposition(name, download || isScript(type, name) || isInstalled(type, name)));
    // Set for every type, because a list of active types is always behind the next browser.
    headers.put("Content-Security-Policy", SANDBOX);
    return headers;
  }

  /**
   * Returns the header of RFC 6266: the exact name for clients that support RFC 8187, and an ASCII
   * name for all others.
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
      // Clients interpret quotes, backslashes and percent signs differently.
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

  /** The characters that RFC 8187 does not encode. */
  private static boolean isAttributeCharacter(int c) {
    return (c >= '0' && c <= '9')
        || (c >= 'A' && c <= 'Z')
        || (c >= 'a' && c <= 'z')
        || "!#$&+-.^_`|~".indexOf(c) >= 0;
  }
}
