package dev.bourse.blob;

import io.vertx.core.Future;

/** An upload that is open for appending. May be used from any thread. */
public interface Upload {
  /**
   * Returns how many bytes were taken; the next block begins there once all appends have completed.
   */
  long stored();

  /**
   * Returns how many of the bytes the next opening will find even if this process dies now. It is
   * at most {@link #stored}, and equal to it after {@link #keep} succeeds. Report only this number
   * to a client, because the client does not send reported bytes again.
   */
  long kept();

  /**
   * Passes a block through the inspector and writes it after earlier ones. Blocks may be appended
   * while earlier ones wait; they are taken in call order.
   *
   * <p>Success means that the bytes were taken. They survive the process after the next {@link
   * #keep} at the latest, and are durable once published. A failure leaves the upload at the last
   * complete block, and every later append fails in the same way, because the inspector has seen
   * bytes that are not stored: release the upload and open it again. The reasons are {@link
   * StorageFullException}, {@link StorageFaultException}, {@link BlobNotFoundException} if the
   * upload was abandoned, {@link StorageBusyException} if the store is closing, and any exception
   * of the inspector. More waiting blocks than the store's bound, and a block after {@link
   * #release}, fail with {@link IllegalStateException}.
   *
   * @param bytes owned by the store until the future completes; the caller may reuse the array
   *     after that
   * @param from the offset of the block's first byte
   * @param to the offset after its last byte, at most {@code from} + {@link
   *     BlobStore#MAX_BLOCK_BYTES}
   */
  Future<Void> append(byte[] bytes, int from, int to);

  /**
   * Stores the bytes appended so far where the next opening finds them, in this process or another.
   * Until then, a store that sends bytes in larger parts may lose the last part with the process.
   * Do not append at the same time. Fails as {@link #append} does; the upload stays usable after
   * {@link StorageBusyException} and {@link StorageFaultException}.
   */
  Future<Void> keep();

  /**
   * Returns whether this opening still owns the upload. If another opening took it over, this one
   * takes no more bytes. A finished upload is current for every opening because it no longer
   * changes.
   */
  Future<Boolean> isCurrent();

  /**
   * Returns whether the inspector has seen every byte that was taken. Some stores cannot read the
   * bytes of an earlier opening before the upload is complete; {@link #finish} then passes them to
   * the inspector.
   */
  boolean isInspected();

  /**
   * Ends appending for good. When the future succeeds, every byte has passed the inspector. If
   * several openings took the bytes, this reads them back once, in constant memory, at the pace of
   * the store; minutes for tens of GiB. Fails with any exception of the inspector and as {@link
   * #append} does; this opening or the next may call it again. If the store has lost bytes it had
   * taken, it fails with {@link StorageFaultException}, {@link #stored} is 0, and the next opening
   * restarts the upload. Idempotent.
   */
  Future<Void> finish();

  /** Ends appending after the pending blocks are written, and keeps the bytes. Idempotent. */
  Future<Void> release();
}
