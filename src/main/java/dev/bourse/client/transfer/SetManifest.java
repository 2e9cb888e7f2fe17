package dev.bourse.client.transfer;

import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The files of a set, from its manifest. The manifest is untrusted: paths that could lead outside
 * of a folder are refused.
 */
public record SetManifest(List<Entry> files) {
  private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");

  /**
   * A file of the set.
   *
   * @param path from the set's folder to the file, with {@code /} between
   */
  public record Entry(String path, long bytes, String sha256) {}

  public SetManifest {
    files = List.copyOf(files);
  }

  /** Parses a manifest. */
  static SetManifest of(String document) throws RefusedException {
    List<Entry> files = new ArrayList<>();
    try {
      JsonArray listed = new JsonObject(document).getJsonArray("files", new JsonArray());
      for (int i = 0; i < listed.size(); i++) {
        JsonObject file = listed.getJsonObject(i);
        files.add(
            entry(
                file.getString("path", ""),
                file.getLong("bytes", -1L),
                file.getString("sha256", "")));
      }
    } catch (DecodeException | ClassCastException e) {
      throw new RefusedException(ExitCode.REFUSED, "the set's manifest cannot be read");
    }
    return new SetManifest(files);
  }

  private static Entry entry(String path, long bytes, String sha256) throws RefusedException {
    if (!isSafe(path) || bytes < 0 || !SHA256.matcher(sha256).matches()) {
      throw new RefusedException(
          ExitCode.REFUSED,
          "the set's manifest names a file that cannot be written: '%s'; nothing was downloaded"
              .formatted(Text.plain(path)));
    }
    return new Entry(path, bytes, sha256);
  }

  /** Whether a path stays within its base folder, on any operating system. */
  private static boolean isSafe(String path) {
    if (path.chars().anyMatch(c -> c == '\\' || c == ':' || Character.isISOControl(c))) {
      return false;
    }
    for (String part : path.split("/", -1)) {
      if (part.isEmpty() || part.equals(".") || part.equals("..")) {
        return false;
      }
    }
    return true;
  }
}
