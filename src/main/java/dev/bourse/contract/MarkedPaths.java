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

  /** Each path's segments, parameters in braces. */
  private final List<String[]> paths = new ArrayList<>();

  /**
   * @param mark true or absent at a path of a contract
   */
  public MarkedPaths(List<Contract> contracts, String mark) {
    for (Contract contract : contracts) {
      for (Path path : contract.model().getPaths()) {
        if (path.getOpenAPIModel().getBoolean(mark, false)) {
          paths.add(path.getName().split("/", -1));
        }
      }
    }
  }

  public boolean has(String path) {
    for (String[] open : paths) {
      if (matches(open, path)) {
        return true;
      }
    }
    return false;
  }

  private static boolean matches(String[] open, String path) {
    int at = 0;
    for (int i = 0; i < open.length; i++) {
      int slash = path.indexOf('/', at);
      boolean isLast = i == open.length - 1;
      if (isLast != (slash < 0)) {
        return false;
      }
      int end = isLast ? path.length() : slash;
      boolean fits =
          open[i].startsWith("{")
              ? end > at
              : end - at == open[i].length() && path.startsWith(open[i], at);
      if (!fits) {
        return false;
      }
      at = end + 1;
    }
    return true;
  }
}
