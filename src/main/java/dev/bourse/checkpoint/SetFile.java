package dev.bourse.checkpoint;

import dev.bourse.core.Digests;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file of a set.
 *
 * @param number its position in the announcement, from 0
 * @param path from the set's folder to the file, separated by {@code /}
 * @param sha256 the digest its bytes must have, in hex
 * @param key of the blob with its bytes; null before they arrive
 * @param findings remarks of the automated check on its bytes
 */
public record SetFile(
    int number,
    String path,
    long bytes,
    String sha256,
    @Nullable String key,
    List<String> findings) {
  /** The media type of a set's content: the manifest, which lists its files. */
  public static final String MANIFEST_TYPE = "application/vnd.bourse.set+json";

  /** The media type of a set's files, because announcements of sets have no types. */
  static final String CONTENT_TYPE = "application/octet-stream";

  /** Marks paths whose files are scanned for credentials by rules of their own. */
  static final String SEARCHED_APART = "env";

  public SetFile {
    findings = List.copyOf(findings);
  }

  /** Returns an announced file. */
  static SetFile announced(int number, String path, long bytes, String sha256) {
    return new SetFile(number, path, bytes, sha256, null, List.of());
  }

  /**
   * Returns true if the file may share bytes that were scanned under another name. Names that
   * contain {@code env} have rules of their own for credentials.
   */
  boolean isLinkable() {
    return !path.toLowerCase(Locale.ROOT).contains(SEARCHED_APART);
  }

  SetFile linked(String blob) {
    return new SetFile(number, path, bytes, sha256, blob, findings);
  }

  /** Returns the file's name without its folders. */
  public String name() {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /** Returns the metadata by which its upload is checked. */
  public Metadata metadata() {
    return new Metadata(name(), "", name(), CONTENT_TYPE, bytes, sha256);
  }

  /** Returns the numbers of the files to send; of several with the same bytes, one. */
  static List<Integer> missing(List<SetFile> files) {
    Set<String> asked = new HashSet<>();
    return files.stream()
        .filter(file -> file.key() == null)
        .filter(file -> !file.isLinkable() || asked.add(file.sha256()))
        .map(SetFile::number)
        .toList();
  }

  /** Returns the manifest of a set, which is the same for the same files in any order. */
  public static byte[] manifest(List<SetFile> files) {
    JsonArray listed = new JsonArray();
    sorted(files)
        .forEach(
            file ->
                listed.add(
                    new JsonObject()
                        .put("path", file.path())
                        .put("bytes", file.bytes())
                        .put("sha256", file.sha256())));
    return new JsonObject().put("files", listed).encode().getBytes(StandardCharsets.UTF_8);
  }

  /** Sorts files by path. */
  static List<SetFile> sorted(List<SetFile> files) {
    return files.stream().sorted(Comparator.comparing(SetFile::path)).toList();
  }

  /** Returns the digest of a manifest, in hex. */
  public static String digest(byte[] manifest) {
    return HexFormat.of().formatHex(Digests.sha256(manifest));
  }
}
