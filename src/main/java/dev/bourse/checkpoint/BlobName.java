package dev.bourse.checkpoint;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How uploads and blobs are called. A blob's key names item, revision and digest, so that it stands
 * for the same bytes for ever: publishing the same again finds it there, publishing anything else
 * never touches it.
 *
 * @param item the item's id
 * @param revision the revision's number
 */
public record BlobName(String item, int revision) {
  private static final Pattern NAME = Pattern.compile("(ckp_[0-9A-Za-z]+)\\.(\\d{1,9})(\\..*)?");

  /**
   * Before the names of sets' files. The release before sets takes names of this form for somebody
   * else's, so its sweep leaves them alone where it runs beside this one.
   */
  private static final String OF_SETS = "set.";

  /** The upload of a session. */
  public static String upload(String item, int revision) {
    return item + '.' + revision;
  }

  /** An upload of one direct request; another request for the same item has another. */
  public static String directUpload(String item, int revision, String attempt) {
    return item + '.' + revision + '.' + attempt;
  }

  /** The blob of a revision whose bytes have this digest, in hex. */
  public static String key(String item, int revision, String sha256) {
    return item + '.' + revision + '.' + sha256;
  }

  /** The upload of one file of a set. */
  public static String fileUpload(String item, int revision, int number) {
    return ofFiles(item, revision) + number;
  }

  /** How the names of all uploads of a set's files begin. */
  static String ofFiles(String item, int revision) {
    return OF_SETS + item + '.' + revision + '.';
  }

  /** The blob of a set's file; other sets may come to refer to it. */
  public static String fileKey(String item, int revision, int number, String sha256) {
    return fileUpload(item, revision, number) + '.' + sha256;
  }

  /** Whether a name is that of this revision's upload or blob, or of one of its files'. */
  public static boolean isOf(String name, String item, int revision) {
    return parse(name).filter(new BlobName(item, revision)::equals).isPresent();
  }

  /** Whether a name is that of a file's upload or blob. */
  static boolean isOfFile(String name) {
    return name.startsWith(OF_SETS);
  }

  /** Which revision an upload or a blob belongs to; empty for a name of another kind. */
  static Optional<BlobName> parse(String name) {
    Matcher matcher =
        NAME.matcher(name.startsWith(OF_SETS) ? name.substring(OF_SETS.length()) : name);
    return matcher.matches()
        ? Optional.of(new BlobName(matcher.group(1), Integer.parseInt(matcher.group(2))))
        : Optional.empty();
  }
}
