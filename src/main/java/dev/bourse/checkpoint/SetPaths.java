package dev.bourse.checkpoint;

import dev.bourse.core.ApiException;
import java.text.Normalizer;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Validates the paths of a set's files, which must fit into one folder on any system: no path
 * leaves it, no two differ only in case, and no file is also a folder.
 */
final class SetPaths {
  private static final String EXPECTED =
      "a path within the folder: names with / between, none of them empty, . or ..";

  /** Fields by their path, normalized as on a case-insensitive file system. */
  private final Map<String, String> fields = new HashMap<>();

  /**
   * Adds a path.
   *
   * @param field its place in the announcement
   */
  void add(String field, String path) {
    for (String name : path.split("/", -1)) {
      if (name.isEmpty() || name.equals(".") || name.equals("..")) {
        throw ApiException.badField(field, path, EXPECTED);
      }
    }
    String earlier = fields.putIfAbsent(folded(path), field);
    if (earlier != null) {
      throw ApiException.badField(
          field,
          path,
          "a path that differs from %s by more than the case of letters and how accents are written"
              .formatted(earlier));
    }
  }

  /** Normalizes a path as on a file system that distinguishes neither case nor Unicode forms. */
  private static String folded(String path) {
    return Normalizer.normalize(path.toLowerCase(Locale.ROOT), Normalizer.Form.NFC);
  }

  void requireNoFileIsAFolder() {
    fields.forEach(
        (path, field) -> {
          for (int end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
            String file = fields.get(path.substring(0, end));
            if (file != null) {
              throw ApiException.badField(
                  field, path, "a path of which no folder is a file, as " + file + " is");
            }
          }
        });
  }
}
