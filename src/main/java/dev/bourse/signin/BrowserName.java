package dev.bourse.signin;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a person calls the browser that sends a {@code User-Agent}. The header is free text that may
 * say anything, so the name helps to tell one's own sessions apart and nothing hangs on it.
 */
final class BrowserName {
  /** What marks a family, the more particular ones first: each imitates those behind it. */
  private static final List<Map.Entry<String, String>> FAMILIES =
      List.of(
          Map.entry("Edg", "Edge"),
          Map.entry("OPR/", "Opera"),
          Map.entry("Firefox/", "Firefox"),
          Map.entry("FxiOS/", "Firefox"),
          Map.entry("Chrome/", "Chrome"),
          Map.entry("CriOS/", "Chrome"),
          Map.entry("Safari/", "Safari"));

  /** Android says Linux, too, and an iPhone says Mac OS. */
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

  /** Such as {@code Firefox on Linux}; {@code unknown browser} for whatever is none of these. */
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
