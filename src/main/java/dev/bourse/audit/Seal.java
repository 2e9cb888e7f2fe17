package dev.bourse.audit;

import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A sealed batch of a chain: rows whose ids follow the previous batch's, and a digest over them and
 * over the previous seal. A copy of one seal kept elsewhere proves all rows up to it.
 *
 * @param batch its number in the chain, from 1
 * @param newestAtMillis the latest time of its rows
 * @param seal SHA-256 in hexadecimal, see {@link #sealing}
 * @param purgedAtMillis when its rows were deleted by retention; null while they are kept
 */
record Seal(
    Chain chain,
    long batch,
    long firstId,
    long lastId,
    long rowCount,
    long newestAtMillis,
    RowDigests rows,
    String seal,
    long sealedAtMillis,
    @Nullable Long purgedAtMillis) {

  /** Rows of a batch, which are read, verified and purged together in some milliseconds each. */
  static final int MAX_ROWS = 1_000;

  /**
   * The end of a batch, which the next batch continues.
   *
   * @param batch 0 for the start of a chain
   * @param lastId the largest id sealed so far
   */
  public record Link(long batch, long lastId, String seal, long sealedAtMillis, boolean isPurged) {
    static final Link BEGINNING = new Link(0, Long.MIN_VALUE, "", 0, true);
  }

  /** Seals a batch that follows another. */
  static Seal sealing(
      Chain chain, Link previous, RowDigests rows, long newestAtMillis, long sealedAtMillis) {
    Seal unsealed =
        new Seal(
            chain,
            previous.batch() + 1,
            rows.id(0),
            rows.id(rows.count() - 1),
            rows.count(),
            newestAtMillis,
            rows,
            "",
            sealedAtMillis,
            null);
    return new Seal(
        chain,
        unsealed.batch,
        unsealed.firstId,
        unsealed.lastId,
        unsealed.rowCount,
        newestAtMillis,
        rows,
        unsealed.expected(previous.seal()),
        sealedAtMillis,
        null);
  }

  /** Returns the seal this batch must have after a previous seal. A purge does not change it. */
  String expected(String previousSeal) {
    return HexFormat.of()
        .formatHex(
            new Encoding("seal")
                .add(previousSeal)
                .add(chain.orgId())
                .add(chain.isRead() ? 1 : 0)
                .add(batch)
                .add(firstId)
                .add(lastId)
                .add(rowCount)
                .add(newestAtMillis)
                .add(sealedAtMillis)
                .add(rows.content())
                .sha256());
  }

  boolean isPurged() {
    return purgedAtMillis != null;
  }

  Link link() {
    return new Link(batch, lastId, seal, sealedAtMillis, isPurged());
  }
}
