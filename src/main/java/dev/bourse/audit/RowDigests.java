package dev.bourse.audit;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The digests of a sealed batch: one digest over all row digests, which is part of the seal, and
 * each row's id with the start of its digest, with which verification can name a row that differs.
 * After a purge only the first remains, and the chain is verified without the rows.
 */
final class RowDigests {
  private static final int CONTENT_BYTES = 32;

  /** An id and the first 8 bytes of a digest. These find a row; the content digest proves it. */
  private static final int ROW_BYTES = 2 * Long.BYTES;

  private final byte[] stored;

  private RowDigests(byte[] stored) {
    this.stored = stored;
  }

  static RowDigests stored(byte[] bytes) {
    return new RowDigests(bytes.clone());
  }

  /** Returns the digest of one row: SHA-256 over all its columns. */
  static byte[] of(RecordedRow row) {
    return new Encoding("row")
        .add(row.id())
        .add(row.atMillis())
        .add(row.orgId())
        .add(row.actor())
        .add(row.action())
        .add(row.subject())
        .add(row.detail())
        .add(row.isRead() ? 1 : 0)
        .sha256();
  }

  static final class Gathered {
    private final ByteArrayOutputStream digests = new ByteArrayOutputStream();
    private final ByteArrayOutputStream rows = new ByteArrayOutputStream();

    void add(long id, byte[] digest) {
      digests.writeBytes(digest);
      rows.writeBytes(ByteBuffer.allocate(ROW_BYTES).putLong(id).put(digest, 0, 8).array());
    }

    RowDigests all() {
      byte[] content = new Encoding("rows").add(digests.toByteArray()).sha256();
      return new RowDigests(
          ByteBuffer.allocate(CONTENT_BYTES + rows.size())
              .put(content)
              .put(rows.toByteArray())
              .array());
    }
  }

  byte[] bytes() {
    return stored.clone();
  }

  /** Returns the part that remains after the rows are purged. */
  RowDigests withoutRows() {
    return new RowDigests(Arrays.copyOf(stored, CONTENT_BYTES));
  }

  /** Returns whether these can be the digests of this many rows. */
  boolean areOf(long rows) {
    return stored.length == CONTENT_BYTES + rows * ROW_BYTES;
  }

  byte[] content() {
    return Arrays.copyOf(stored, CONTENT_BYTES);
  }

  int count() {
    return Math.max(0, stored.length - CONTENT_BYTES) / ROW_BYTES;
  }

  long id(int row) {
    return ByteBuffer.wrap(stored).getLong(CONTENT_BYTES + row * ROW_BYTES);
  }

  boolean matches(int row, byte[] digest) {
    int at = CONTENT_BYTES + row * ROW_BYTES + Long.BYTES;
    return Arrays.equals(stored, at, at + 8, digest, 0, 8);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RowDigests digests && Arrays.equals(stored, digests.stored);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(stored);
  }

  @Override
  public String toString() {
    return count() + " rows of content " + HexFormat.of().formatHex(content());
  }
}
