package dev.bourse.checkpoint;

import org.jspecify.annotations.Nullable;

/**
 * The announced metadata of a file, or of a set of files.
 *
 * @param title 1 to 200 characters
 * @param description up to 4,000 characters, may be empty
 * @param fileName 1 to 255 characters, no folders
 * @param contentType the media type it will be served with
 * @param bytes its exact length, 1 or more; of a set the sum of its files' lengths
 * @param sha256 the digest its bytes must have, 64 lower-case hex digits; null for any
 * @param files the number of files of a set; 0 for a single file
 */
public record Metadata(
    String title,
    String description,
    String fileName,
    String contentType,
    long bytes,
    @Nullable String sha256,
    int files) {
  public Metadata {
    if (bytes < 0 || fileName.isEmpty()) {
      throw new IllegalArgumentException(
          "a file '%s' of %s bytes; expected a name and 0 bytes or more"
              .formatted(fileName, bytes));
    }
  }

  /** Creates the metadata of a single file. */
  public Metadata(
      String title,
      String description,
      String fileName,
      String contentType,
      long bytes,
      @Nullable String sha256) {
    this(title, description, fileName, contentType, bytes, sha256, 0);
  }

  /** Returns true for a set of files. */
  public boolean isSet() {
    return files > 0;
  }
}
