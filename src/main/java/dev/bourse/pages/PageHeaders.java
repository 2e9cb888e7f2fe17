package dev.bourse.pages;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The security and caching headers of pages. */
public final class PageHeaders {
  private PageHeaders() {}

  /**
   * Headers for pages without scripts: only the service's own style sheet and images load, forms go
   * only to its own pages, and nothing may frame the page, cache it, or share its process.
   */
  public static List<Map.Entry<String, String>> strict() {
    return with(List.of(Map.entry("cache-control", "no-store")));
  }

  /**
   * Headers for pages that are the same for everybody. Caches must revalidate them, because the
   * content can be withdrawn at any time.
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
                // Not no-referrer, which makes browsers send our forms with "Origin: null".
                Map.entry("referrer-policy", "same-origin"),
                Map.entry("cross-origin-opener-policy", "same-origin"),
                Map.entry("x-frame-options", "DENY")));
    headers.addAll(caching);
    return List.copyOf(headers);
  }

  /**
   * Headers for a page that the service's own scripts fill. Nothing loads from elsewhere, the page
   * has no inline script except its import map, and text becomes markup only through Lit's
   * templates.
   *
   * @param importMap the digest of the import map in the form of the policy
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

  /** The headers of {@link #strict()} and further ones, such as cookies. */
  public static List<Map.Entry<String, String>> strict(List<Map.Entry<String, String>> further) {
    List<Map.Entry<String, String>> all = new ArrayList<>(strict());
    all.addAll(further);
    return all;
  }
}
