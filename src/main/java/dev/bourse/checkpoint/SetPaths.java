package dev.bourse.checkpoint;

import dev.bourse.core.ApiError;
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
    String earlier = fields.putIfAbsent(path.toLowerCase(Locale.ROOT), field);
    if (earlier != null) {
      throw ApiError.badField(
          field, path, "a path that differs from " + earlier + " by more than the case of letters");
    }
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
