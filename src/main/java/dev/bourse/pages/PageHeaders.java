package dev.bourse.pages;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Headers of pages. */
public final class PageHeaders {
  private PageHeaders() {}

  /**
   * Nothing may be loaded but the style sheet and images of ours, no script runs, nobody frames the
   * page, keeps it, or shares its process.
   *
   * @param formTargets origins besides ours that the answer to one of the page's forms may redirect
   *     to: browsers hold {@code form-action} against redirects, too
   */
  public static List<Map.Entry<String, String>> strict(List<String> formTargets) {
    StringBuilder targets = new StringBuilder("'self'");
    for (String target : formTargets) {
      if (!target.matches("[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9.:/\\[\\]_~%-]*")) {
        throw new IllegalArgumentException("no source of a content security policy: " + target);
      }
      targets.append(' ').append(target);
    }
    return List.of(
        Map.entry(
            "content-security-policy",
            "default-src 'none'; style-src 'self'; img-src 'self'; form-action "
                + targets
                + "; frame-ancestors 'none'; base-uri 'none'"),
        // Not no-referrer, which makes browsers send forms of ours with "Origin: null".
        Map.entry("referrer-policy", "same-origin"),
        Map.entry("cache-control", "no-store"),
        Map.entry("cross-origin-opener-policy", "same-origin"),
        Map.entry("x-frame-options", "DENY"));
  }

  /** The same and further headers, such as cookies. */
  public static List<Map.Entry<String, String>> strict(
      List<String> formTargets, List<Map.Entry<String, String>> further) {
    List<Map.Entry<String, String>> all = new ArrayList<>(strict(formTargets));
    all.addAll(further);
    return all;
  }
}
