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
 * @param number its place in the announcement, from 0 on
 * @param path from the set's folder to the file, with {@code /} between
 * @param sha256 the digest its bytes must have, in hex
 * @param key of the blob that holds its bytes; null while they are awaited
 * @param findings what the automated check noticed of its bytes
 */
public record SetFile(
    int number,
    String path,
    long bytes,
    String sha256,
    @Nullable String key,
    List<String> findings) {
  /** What a set's content is served as: the manifest, which names its files. */
  public static final String MANIFEST_TYPE = "application/vnd.bourse.set+json";

  /** How files of sets are served: nobody says what they are. */
  static final String CONTENT_TYPE = "application/octet-stream";

  /** In the paths of files that are searched under their own name. */
  static final String SEARCHED_APART = "env";

  public SetFile {
    findings = List.copyOf(findings);
  }

  /** A file that is announced. */
  static SetFile announced(int number, String path, long bytes, String sha256) {
    return new SetFile(number, path, bytes, sha256, null, List.of());
  }

  /**
   * Whether bytes that were searched under another name will do. Names that speak of an environment
   * have rules of their own for what is a credential.
   */
  boolean isLinkable() {
    return !path.toLowerCase(Locale.ROOT).contains(SEARCHED_APART);
  }

  SetFile linked(String blob) {
    return new SetFile(number, path, bytes, sha256, blob, findings);
  }

  /** The file's name without its folders. */
  public String name() {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /** What an upload of it is judged by. */
  public Metadata metadata() {
    return new Metadata(name(), "", name(), CONTENT_TYPE, bytes, sha256);
  }

  /** The numbers of the files to be sent: of several with the same bytes, one. */
  static List<Integer> missing(List<SetFile> files) {
    Set<String> asked = new HashSet<>();
    return files.stream()
        .filter(file -> file.key() == null)
        .filter(file -> !file.isLinkable() || asked.add(file.sha256()))
        .map(SetFile::number)
        .toList();
  }

  /** The manifest of a set: the same bytes for the same files, in whatever order they came. */
  public static byte[] manifest(List<SetFile> files) {
    return new JsonObject()
        .put("files", json(sorted(files)))
        .encode()
        .getBytes(StandardCharsets.UTF_8);
  }

  /** Files by their paths. */
  static List<SetFile> sorted(List<SetFile> files) {
    return files.stream().sorted(Comparator.comparing(SetFile::path)).toList();
  }

  /** Files as a manifest names them. */
  public static JsonArray json(List<SetFile> files) {
    JsonArray listed = new JsonArray();
    files.forEach(
        file ->
            listed.add(
                new JsonObject()
                    .put("path", file.path())
                    .put("bytes", file.bytes())
                    .put("sha256", file.sha256())));
    return listed;
  }

  /** The digest of a manifest, in hex. */
  public static String digest(byte[] manifest) {
    return HexFormat.of().formatHex(Digests.sha256(manifest));
  }
}
