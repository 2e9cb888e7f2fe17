package dev.bourse.blob.s3;

import dev.bourse.blob.StorageFault;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The store's answer to an upload of bytes.
 *
 * @param tag as the store writes it, mostly between quotation marks
 * @param encryption as the answer names it; null if it names none
 */
record UploadReceipt(String tag, @Nullable String encryption) {
  /** How S3 names encryption with keys of its own, which leaves tags as they are. */
  private static final String OWN_ENCRYPTION = "AES256";

  private static final Pattern MD5 = Pattern.compile("\"?([0-9a-fA-F]{32})\"?");

  /** The store has other bytes than were sent. */
  static final class AlteredException extends StorageFault {
    AlteredException(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** Nothing shows that the store has the bytes; they have to be sent again with their digest. */
  static final class UnverifiedException extends StorageFault {
    UnverifiedException(String what) {
      super("the object store's tag is no MD5 of the bytes: " + what, null);
    }
  }

  /**
   * @param customerKey the algorithm of a key that the client sent; null if it sent none
   */
  static UploadReceipt of(
      @Nullable String tag, @Nullable String encryption, @Nullable String customerKey) {
    return new UploadReceipt(
        Objects.requireNonNullElse(tag, ""), customerKey == null ? encryption : customerKey);
  }

  /**
   * Returns whether the tag is the MD5 of the bytes, as S3 says of objects that are stored without
   * encryption or with the store's own keys. With keys of KMS or of a customer it is not, and some
   * services give tags that do not look like an MD5.
   */
  boolean isDigest() {
    return MD5.matcher(tag).matches() && (encryption == null || encryption.equals(OWN_ENCRYPTION));
  }

  /**
   * Compares the tag with what was sent. A tag that is no digest proves nothing; then the store has
   * compared the bytes with {@code Content-MD5} if that was sent.
   *
   * @throws AlteredException if the tag is the digest of other bytes
   * @throws UnverifiedException if neither the tag nor the request had a digest
   */
  void verify(String what, Payload payload) {
    if (isDigest()) {
      String expected = payload.expectedTag();
      if (!tag.replace("\"", "").equalsIgnoreCase(expected)) {
        throw new AlteredException(
            "the object store has other bytes than were sent: %s; its tag is %s, not %s"
                .formatted(what, tag, expected),
            null);
      }
    } else if (!payload.isWhole()) {
      throw new UnverifiedException(what);
    }
  }
}
