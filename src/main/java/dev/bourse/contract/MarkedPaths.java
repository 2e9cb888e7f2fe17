package dev.bourse.contract;

import io.vertx.openapi.contract.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The paths that their contract marks with a property. A mark depends on the path alone, so that it
 * also applies to requests refused before their operation is known, such as those with a wrong
 * method or from an address over its budget.
 */
public final class MarkedPaths {
  /** Pages of any origin may read the answers of this path. */
  public static final String ANY_ORIGIN = "x-any-origin";

  /** This path also exists at the host that serves only published bytes. */
  public static final String CONTENT_HOST = "x-content-host";

  /**
   * A path's segments, parameters in braces, and the prefix before the first parameter. The prefix
   * rules out most paths quickly, because every answer is checked.
   */
  private record Marked(String beginning, List<String> segments) {}

  private final Marked[] paths;

  /**
   * @param mark the name of a property that is true or absent at a path of a contract
   */
  public MarkedPaths(List<Contract> contracts, String mark) {
    List<Marked> found = new ArrayList<>();
    for (Contract contract : contracts) {
      for (Path path : contract.model().getPaths()) {
        if (path.getOpenAPIModel().getBoolean(mark, false)) {
          String name = path.getName();
          int brace = name.indexOf('{');
          found.add(
              new Marked(
                  brace < 0 ? name : name.substring(0, brace), List.of(name.split("/", -1))));
        }
      }
    }
    paths = found.toArray(Marked[]::new);
  }

  public boolean has(String path) {
    for (Marked marked : paths) {
      if (path.startsWith(marked.beginning) && matches(marked.segments, path)) {
        return true;
      }
    }
    return false;
  }

  private static boolean matches(List<String> open, String path) {
    int at = 0;
    for (int i = 0; i < open.size(); i++) {
      int slash = path.indexOf('/', at);
      boolean isLast = i == open.size() - 1;
      if (isLast != (slash < 0)) {
        return false;
      }
      int end = isLast ? path.length() : slash;
      String segment = open.get(i);
      boolean fits =
          segment.startsWith("{")
              ? end > at
              : end - at == segment.length() && path.startsWith(segment, at);
      if (!fits) {
        return false;
      }
      at = end + 1;
    }
    return true;
  }
}
