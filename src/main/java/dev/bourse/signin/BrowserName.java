package dev.bourse.signin;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The common name of a browser, from its {@code User-Agent}. The header is free text that may say
 * anything, so the name only helps members to recognize their own sessions, and no decision depends
 * on it.
 */
final class BrowserName {
  /**
   * Marks of browser families. More specific ones come first, because each imitates those after it.
   */
  private static final List<Map.Entry<String, String>> FAMILIES =
      List.of(
          Map.entry("Edg", "Edge"),
          Map.entry("OPR/", "Opera"),
          Map.entry("Firefox/", "Firefox"),
          Map.entry("FxiOS/", "Firefox"),
          Map.entry("Chrome/", "Chrome"),
          Map.entry("CriOS/", "Chrome"),
          Map.entry("Safari/", "Safari"));

  /** Android also names Linux, and an iPhone Mac OS. */
  private static final List<Map.Entry<String, String>> SYSTEMS =
      List.of(
          Map.entry("Android", "Android"),
          Map.entry("iPhone", "iPhone"),
          Map.entry("iPad", "iPad"),
          Map.entry("CrOS", "ChromeOS"),
          Map.entry("Windows", "Windows"),
          Map.entry("Macintosh", "macOS"),
          Map.entry("Linux", "Linux"));

  private BrowserName() {}

  /** A name such as {@code Firefox on Linux}; {@code unknown browser} if no mark matches. */
  static String of(String userAgent) {
    String family = find(FAMILIES, userAgent).orElse("");
    if (family.isEmpty()) {
      return "unknown browser";
    }
    return find(SYSTEMS, userAgent).map(system -> family + " on " + system).orElse(family);
  }

  private static Optional<String> find(List<Map.Entry<String, String>> names, String userAgent) {
    return names.stream()
        .filter(name -> userAgent.contains(name.getKey()))
        .map(Map.Entry::getValue)
        .findFirst();
  }
}
