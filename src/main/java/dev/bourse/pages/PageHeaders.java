package dev.bourse.pages;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Headers of pages. */
public final class PageHeaders {
  private PageHeaders() {}

  /**
   * Nothing may be loaded but the style sheet and images of ours, no script runs, forms lead to
   * pages of ours alone, nobody frames the page, keeps it, or shares its process.
   */
  public static List<Map.Entry<String, String>> strict() {
    return with(List.of(Map.entry("cache-control", "no-store")));
  }

  /**
   * Those of a page that is the same for everybody: whoever kept it asks whether it is still so,
   * for what it shows can be taken back at any time.
   *
   * @param etag a strong validator in quoted form
   */
  public static List<Map.Entry<String, String>> shared(String etag) {
    return with(List.of(Map.entry("cache-control", "no-cache"), Map.entry("etag", etag)));
  }

  private static List<Map.Entry<String, String>> with(List<Map.Entry<String, String>> caching) {
    List<Map.Entry<String, String>> headers =
        new ArrayList<>(
            List.of(
                Map.entry(
                    "content-security-policy",
                    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';"
                        + " frame-ancestors 'none'; base-uri 'none'"),
                // Not no-referrer, which makes browsers send forms of ours with "Origin: null".
                Map.entry("referrer-policy", "same-origin"),
                Map.entry("cross-origin-opener-policy", "same-origin"),
                Map.entry("x-frame-options", "DENY")));
    headers.addAll(caching);
    return List.copyOf(headers);
  }

  /**
   * For a page that scripts of ours fill. Nothing comes from anywhere else, no script stands in the
   * page but its import map, and text becomes markup through Lit's templates alone.
   *
   * @param importMap the digest of the import map, as the policy writes it
   */
  public static Map<String, String> scripted(String importMap) {
    return Map.of(
        "content-security-policy",
        "default-src 'none'; script-src 'self' '"
            + importMap
            + "'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self';"
            + " frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script';"
            + " trusted-types lit-html",
        "referrer-policy",
        "same-origin",
        "cache-control",
        "no-cache",
        "cross-origin-opener-policy",
        "same-origin",
        "cross-origin-resource-policy",
        "same-origin",
        "x-frame-options",
        "DENY");
  }

  /** The same as for pages without scripts, and further headers, such as cookies. */
  public static List<Map.Entry<String, String>> strict(List<Map.Entry<String, String>> further) {
    List<Map.Entry<String, String>> all = new ArrayList<>(strict());
    all.addAll(further);
    return all;
  }
}
