package dev.bourse.store.transfer;

import dev.bourse.core.Digests;
import io.vertx.core.json.JsonArray;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The number and digest of a table's rows; equal for equal rows on every engine.
 *
 * @param rows the number of rows
 * @param sha256 the digest of their canonical texts in the order of the key, each with a line feed;
 *     lower-case hexadecimal
 */
public record TableSum(String table, long rows, String sha256) {

  /** Takes the rows one by one. */
  static final class Taker {
    private final MessageDigest digest = Digests.newSha256();
    private long rows;

    void take(byte[] canonical) {
      digest.update(canonical);
      digest.update((byte) '\n');
      rows++;
    }

    long rows() {
      return rows;
    }

    /** Returns the sum; called once, at the end. */
    TableSum sum(String table) {
      return new TableSum(table, rows, HexFormat.of().formatHex(digest.digest()));
    }
  }

  /** Returns a row's canonical text: a JSON array by column, bytes as base64url without padding. */
  static byte[] canonical(List<? extends @Nullable Object> values) {
    return canonical(new JsonArray(values));
  }

  static byte[] canonical(JsonArray values) {
    return values.encode().getBytes(StandardCharsets.UTF_8);
  }

  /** Returns the CRC-32 of a row's canonical text, which detects an accidental change. */
  static String crc32(byte[] canonical) {
    CRC32 crc = new CRC32();
    crc.update(canonical);
    return HexFormat.of().toHexDigits((int) crc.getValue());
  }

  /** Reads a table and returns its sum. */
  public static TableSum of(WholeStore store, StoredTable table, RowProgress progress) {
    long total = store.count(table);
    Taker taker = new Taker();
    store.read(
        table,
        values -> {
          taker.take(canonical(values));
          progress.at(table.name(), taker.rows(), total);
        });
    return taker.sum(table.name());
  }
}
