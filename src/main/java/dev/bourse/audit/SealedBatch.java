package dev.bourse.audit;

import io.vertx.core.buffer.Buffer;
import java.util.List;

/**
 * A sealed batch for export: a line for each row, and one for the seal after them. Its bytes do not
 * change until the rows are purged, after which only the seal is left.
 *
 * @param batch its number in the chain, from 1
 * @param rows the number of its rows
 * @param lines NDJSON; some 700 KB for 1,000 rows
 */
public record SealedBatch(Chain chain, long batch, int rows, Buffer lines) {
  /** More than the length of most lines. */
  private static final int USUAL_LINE = 800;

  static SealedBatch of(OcsfSeal seal, List<RecordedRow> rows) {
    Buffer lines = Buffer.buffer(USUAL_LINE * (rows.size() + 1));
    rows.forEach(row -> lines.appendBuffer(OcsfRow.of(row).toBuffer()).appendByte((byte) '\n'));
    lines.appendBuffer(seal.json().toBuffer()).appendByte((byte) '\n');
    return new SealedBatch(seal.seal().chain(), seal.seal().batch(), rows.size(), lines);
  }

  /** Returns the name of its chain: {@code writes} or {@code reads}. */
  public String chainName() {
    return OcsfRow.name(chain);
  }
}
