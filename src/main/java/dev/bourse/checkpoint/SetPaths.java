package dev.bourse.checkpoint;

import dev.bourse.core.ApiError;
import java.text.Normalizer;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * The paths of a set's files, which must be able to lie in one folder on any system: none leads out
 * of it, no two are the same but for the case of letters, and none is a folder of another.
 */
final class SetPaths {
  private static final String EXPECTED =
      "a path within the folder: names with / between, none of them empty, . or ..";

  /** What each path is to a file system that does not tell cases apart, and where it stands. */
  private final Map<String, String> fields = new HashMap<>();

  /**
   * Takes a path.
   *
   * @param field where it stands in the announcement
   */
  void add(String field, String path) {
    for (String name : path.split("/", -1)) {
      if (name.isEmpty() || name.equals(".") || name.equals("..")) {
        throw ApiError.badField(field, path, EXPECTED);
      }
    }
    String earlier = fields.putIfAbsent(folded(path), field);
    if (earlier != null) {
      throw ApiError.badField(
          field,
          path,
          "a path that differs from %s by more than the case of letters and how accents are written"
              .formatted(earlier));
    }
  }

  /** What a file system makes of a path that tells neither cases nor forms of Unicode apart. */
  private static String folded(String path) {
    return Normalizer.normalize(path.toLowerCase(Locale.ROOT), Normalizer.Form.NFC);
  }

  void requireNoFileIsAFolder() {
    fields.forEach(
        (path, field) -> {
          for (int end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
            String file = fields.get(path.substring(0, end));
            if (file != null) {
              throw ApiError.badField(
                  field, path, "a path of which no folder is a file, as " + file + " is");
            }
          }
        });
  }
}
