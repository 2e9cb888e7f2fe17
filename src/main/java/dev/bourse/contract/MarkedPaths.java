package dev.bourse.contract;

import io.vertx.openapi.contract.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The paths that their contract marks with a property. What a mark means is decided by the path
 * alone, so that it also holds for what is refused before an operation is known, such as a wrong
 * method or an address over its budget.
 */
public final class MarkedPaths {
  /** Pages of any origin may read whatever is answered there. */
  public static final String ANY_ORIGIN = "x-any-origin";

  /** Is there, too, at the host that serves published bytes alone. */
  public static final String CONTENT_HOST = "x-content-host";

  /**
   * A path's segments, parameters in braces, and what stands before the first of those: few paths
   * begin like it, and each answer asks.
   */
  private record Marked(String beginning, List<String> segments) {}

  private final Marked[] paths;

  /**
   * @param mark true or absent at a path of a contract
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
