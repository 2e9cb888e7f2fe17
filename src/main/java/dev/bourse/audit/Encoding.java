package dev.bourse.audit;

import dev.bourse.core.Digests;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The bytes of a digest: integers as 8 bytes, big-endian; texts as UTF-8 after their length.
 * Different lists of values have different bytes, so a digest proves the values.
 */
final class Encoding {
  /** More than the size of most rows. */
  private static final int USUAL_BYTES = 256;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(USUAL_BYTES);

  /**
   * @param subject the kind of the encoded value, so that a digest of one kind cannot pass for
   *     another
   */
  Encoding(String subject) {
    add(subject);
  }

  Encoding add(long value) {
    bytes.writeBytes(ByteBuffer.allocate(Long.BYTES).putLong(value).array());
    return this;
  }

  Encoding add(String value) {
    return add(value.getBytes(StandardCharsets.UTF_8));
  }

  Encoding add(byte[] value) {
    add((long) value.length);
    bytes.writeBytes(value);
    return this;
  }

  byte[] sha256() {
    return Digests.sha256(bytes.toByteArray());
  }
}
