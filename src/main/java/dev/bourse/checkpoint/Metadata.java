package dev.bourse.checkpoint;

import org.jspecify.annotations.Nullable;

/**
 * What a member says of a file before its bytes arrive.
 *
 * @param title 1 to 200 characters
 * @param description up to 4,000 characters, may be empty
 * @param fileName 1 to 255 characters, no folders
 * @param contentType the media type it will be served with
 * @param bytes its exact length, 1 or more
 * @param sha256 the digest its bytes must have, 64 lower-case hex digits; null for any
 */
public record Metadata(
    String title,
    String description,
    String fileName,
    String contentType,
    long bytes,
    @Nullable String sha256) {
  public Metadata {
    if (bytes < 0 || fileName.isEmpty()) {
      throw new IllegalArgumentException(
          "a file '%s' of %s bytes; expected a name and 0 bytes or more"
              .formatted(fileName, bytes));
    }
  }
}
