package dev.bourse.blob.s3;

import dev.bourse.blob.StorageFaultException;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The store's answer to an upload of bytes.
 *
 * @param tag the entity tag as the store writes it, usually in quotation marks
 * @param encryption the encryption that the answer names; null if it names none
 */
record UploadReceipt(String tag, @Nullable String encryption) {
  /** S3's name for encryption with its own keys, which leaves tags as digests. */
  private static final String OWN_ENCRYPTION = "AES256";

  private static final Pattern MD5 = Pattern.compile("\"?([0-9a-fA-F]{32})\"?");

  /** The store has other bytes than were sent. */
  static final class AlteredException extends StorageFaultException {
    AlteredException(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** The answer does not prove that the store has the bytes. Send them again with their digest. */
  static final class UnverifiedException extends StorageFaultException {
    UnverifiedException(String what) {
      super("object store: the tag is not the MD5 of the bytes: " + what, null);
    }
  }

  /**
   * @param customerKey the algorithm of the client's key; null if it sent none
   */
  static UploadReceipt of(
      @Nullable String tag, @Nullable String encryption, @Nullable String customerKey) {
    return new UploadReceipt(
        Objects.requireNonNullElse(tag, ""), customerKey == null ? encryption : customerKey);
  }

  /**
   * Returns whether the tag is the MD5 of the bytes, which S3 guarantees for objects that are
   * stored without encryption or with the store's own keys. With keys of KMS or of a customer it is
   * not, and some services return tags that do not look like an MD5.
   */
  boolean isDigest() {
    return MD5.matcher(tag).matches() && (encryption == null || encryption.equals(OWN_ENCRYPTION));
  }

  /**
   * Compares the tag with the sent bytes. A tag that is not a digest proves nothing; in that case
   * the store has verified {@code Content-MD5} if it was sent.
   *
   * @throws AlteredException if the tag is the digest of other bytes
   * @throws UnverifiedException if neither the tag nor the request had a digest
   */
  void verify(String what, Payload payload) {
    if (isDigest()) {
      String expected = payload.expectedTag();
      if (!tag.replace("\"", "").equalsIgnoreCase(expected)) {
        throw new AlteredException(
            "object store: stored other bytes than were sent: %s; its tag is %s, not %s"
                .formatted(what, tag, expected),
            null);
      }
    } else if (!payload.isWhole()) {
      throw new UnverifiedException(what);
    }
  }
}
