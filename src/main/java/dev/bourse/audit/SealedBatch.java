package dev.bourse.audit;

import io.vertx.core.buffer.Buffer;
import java.util.List;

/**
 * A sealed batch as it leaves the service: a line for each row, and one for the seal behind them.
 * It is the same bytes each time, until the rows are purged; then it is the seal alone.
 *
 * @param batch its number in the chain, from 1
 * @param rows how many rows are in it
 * @param lines NDJSON; of up to 1,000 rows some 700 KB
 */
public record SealedBatch(Chain chain, long batch, int rows, Buffer lines) {
  /** More than the line of most rows. */
  private static final int USUAL_LINE = 800;

  static SealedBatch of(OcsfSeal seal, List<RecordedRow> rows) {
    Buffer lines = Buffer.buffer(USUAL_LINE * (rows.size() + 1));
    rows.forEach(row -> lines.appendBuffer(OcsfRow.of(row).toBuffer()).appendByte((byte) '\n'));
    lines.appendBuffer(seal.json().toBuffer()).appendByte((byte) '\n');
    return new SealedBatch(seal.seal().chain(), seal.seal().batch(), rows.size(), lines);
  }

  /** What its chain is called: {@code writes} or {@code reads}. */
  public String chainName() {
    return OcsfRow.name(chain);
  }
}
