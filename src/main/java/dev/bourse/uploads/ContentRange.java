package dev.bourse.uploads;

import dev.bourse.checkpoint.ConflictReason;
import dev.bourse.checkpoint.Metadata;
import dev.bourse.core.ApiException;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The {@code Content-Range} of a resumable PUT: the part of the file that it contains.
 *
 * @param isQuery whether it contains no bytes and only asks for the progress
 * @param first the first byte's offset
 * @param last the last byte's offset, if given: {@code 0-*} means everything from the first on
 * @param total the file's length, if given
 */
record ContentRange(boolean isQuery, long first, OptionalLong last, OptionalLong total) {
  private static final Pattern FORM =
      Pattern.compile("bytes (?:(\\d{1,18})-(?:(\\d{1,18})|\\*)|\\*)/(?:(\\d{1,18})|\\*)");

  ContentRange {
    if (first < 0 || last.orElse(first) < first) {
      throw new IllegalArgumentException(
          "bytes %s to %s; expected 0 or more, in order".formatted(first, last));
    }
  }

  /** The range of a PUT without the header, which contains the whole file. */
  static final ContentRange WHOLE =
      new ContentRange(false, 0, OptionalLong.empty(), OptionalLong.empty());

  /**
   * Parses the header.
   *
   * @throws ApiException {@code bad-request} for an invalid or contradictory header
   */
  static ContentRange parse(String header) {
    Matcher matcher = FORM.matcher(header.trim());
    if (!matcher.matches()) {
      throw malformed(header);
    }
    OptionalLong total = number(matcher.group(3));
    if (matcher.group(1) == null) {
      return new ContentRange(true, 0, OptionalLong.empty(), total);
    }
    long first = Long.parseLong(matcher.group(1));
    OptionalLong last = number(matcher.group(2));
    if (last.isPresent() && last.getAsLong() < first) {
      throw malformed(header);
    }
    if (total.isPresent() && last.orElse(first) >= total.getAsLong()) {
      throw malformed(header);
    }
    return new ContentRange(false, first, last, total);
  }

  /**
   * Rejects a range or body that does not fit the announced file.
   *
   * @param length of the body, if given
   */
  void requireFit(Metadata metadata, OptionalLong length) {
    if (total.orElse(metadata.bytes()) != metadata.bytes()) {
      throw ConflictReason.SIZE_MISMATCH.of(
          "Content-Range says %s bytes; %s were announced", total.getAsLong(), metadata.bytes());
    }
    if (isQuery || length.isEmpty()) {
      return;
    }
    long bytes = length.getAsLong();
    if (last.isPresent() && bytes != last.getAsLong() - first + 1) {
      throw lengthMismatch(bytes + " bytes");
    }
    if (first + bytes > metadata.bytes()) {
      throw UploadAppender.tooMany(metadata);
    }
  }

  /** Returns the error for a body whose length differs from the range. */
  ApiException lengthMismatch(String body) {
    return ApiException.badField(
        "Content-Range",
        first + "-" + (last.isPresent() ? String.valueOf(last.getAsLong()) : "*"),
        "a range of " + body + ", the length of the body");
  }

  private static OptionalLong number(@Nullable String digits) {
    return digits == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(digits));
  }

  private static ApiException malformed(String header) {
    return ApiException.badField(
        "Content-Range",
        header,
        """
        bytes a-b/N or bytes a-*/N with a <= b < N, or bytes */N to ask how far the upload is; \
        N may be *\
        """);
  }
}
