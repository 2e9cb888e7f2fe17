package dev.bourse.checkpoint;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names of uploads and blobs. A blob's key contains item, revision and digest, so it always stands
 * for the same bytes: publishing them again finds the blob, and publishing other bytes never
 * touches it.
 *
 * @param item the item's id
 * @param revision the revision's number
 */
public record BlobName(String item, int revision) {
  private static final Pattern NAME = Pattern.compile("(ckp_[0-9A-Za-z]+)\\.(\\d{1,9})(\\..*)?");

  /**
   * Prefix of the files of sets. The release before sets ignores names of this form, so its sweep
   * deletes none of them when it runs beside this release.
   */
  private static final String OF_SETS = "set.";

  /** Returns the upload of a session. */
  public static String upload(String item, int revision) {
    return item + '.' + revision;
  }

  /** Returns the upload of one direct request; each request for the same item has its own. */
  public static String directUpload(String item, int revision, String attempt) {
    return item + '.' + revision + '.' + attempt;
  }

  /** Returns the blob of a revision whose bytes have this digest, in hex. */
  public static String key(String item, int revision, String sha256) {
    return item + '.' + revision + '.' + sha256;
  }

  /** Returns the upload of one file of a set. */
  public static String fileUpload(String item, int revision, int number) {
    return ofFiles(item, revision) + number;
  }

  /** Returns the common prefix of the uploads of a set's files. */
  static String ofFiles(String item, int revision) {
    return OF_SETS + item + '.' + revision + '.';
  }

  /** Returns the blob of a set's file; other sets may share it. */
  public static String fileKey(String item, int revision, int number, String sha256) {
    return fileUpload(item, revision, number) + '.' + sha256;
  }

  /** Returns true if a name is an upload or blob of this revision or of one of its files. */
  public static boolean isOf(String name, String item, int revision) {
    return parse(name).filter(new BlobName(item, revision)::equals).isPresent();
  }

  /** Returns true if a name is an upload or blob of a set's file. */
  static boolean isOfFile(String name) {
    return name.startsWith(OF_SETS);
  }

  /** Returns the revision that an upload or a blob belongs to; empty for other names. */
  static Optional<BlobName> parse(String name) {
    Matcher matcher =
        NAME.matcher(name.startsWith(OF_SETS) ? name.substring(OF_SETS.length()) : name);
    return matcher.matches()
        ? Optional.of(new BlobName(matcher.group(1), Integer.parseInt(matcher.group(2))))
        : Optional.empty();
  }
}
