package dev.bourse.blob;

import io.vertx.core.Future;

/** An upload that is open for appending. May be used from any thread. */
public interface Upload {
  /** How many bytes were taken: where the next block begins once all appends have resolved. */
  long stored();

  /**
   * How many of them whoever opens the upload next finds, also when this process dies now: no more
   * than {@link #stored}, and all of those once {@link #keep} has succeeded. This is what a client
   * may be told, for what it is told it does not send again.
   */
  long kept();

  /**
   * Has the inspector see a block and writes it after the others. Blocks may be appended while
   * earlier ones wait; they are taken in the order of the calls.
   *
   * <p>A success means that the bytes were taken; they outlive the process with the next {@link
   * #keep} at the latest, and are durable once published. A failure leaves the upload at the last
   * whole block, and every later append fails in the same way, because the inspector has seen bytes
   * that are not there: release the upload and open it again. The reasons are {@link StorageFull},
   * {@link StorageFault}, {@link BlobGone} when the upload was abandoned, {@link StorageBusy} when
   * the store closes, and whatever the inspector threw. A block too many (more wait than the
   * store's bound) and a block after {@link #release} fail with {@link IllegalStateException}:
   * whoever appends has to wait for what it appended.
   *
   * @param bytes the store's until the future completes; after that the caller may use it again
   * @param from where the block begins
   * @param to where it ends; at most {@link BlobStore#MAX_BLOCK_BYTES} after the beginning
   */
  Future<Void> append(byte[] bytes, int from, int to);

  /**
   * Keeps what was appended so far where whoever opens the upload next finds it, this process or
   * another. Until then a store that sends bytes in larger parts may lose the last part's with the
   * process. Nothing may be appended meanwhile. Fails as {@link #append} does; the upload may be
   * used on when the storage is busy or at fault.
   */
  Future<Void> keep();

  /**
   * Whether what this opening knows of the upload still holds. When another opening has it
   * meanwhile it does not, and this one takes no more bytes; but of an upload that was finished
   * nothing changes, however many have it.
   */
  Future<Boolean> isCurrent();

  /**
   * Whether the inspector has seen every byte that was taken. An opening may find bytes of an
   * earlier one that cannot be read before all are there; then {@link #finish} shows them to it.
   */
  boolean isInspected();

  /**
   * Ends the appending for good: no more bytes come, and every one has passed the inspector when
   * the future succeeds. Where they had been taken by several openings this reads them back once,
   * in memory that does not grow with them, at the pace of the store; minutes for tens of GiB.
   * Fails with what the inspector threw and as {@link #append} does; it may then be asked again, by
   * this opening or the next. When bytes the store had taken are not there any more it fails with
   * {@link StorageFault}, {@link #stored} is 0, and the next opening begins anew. Idempotent.
   */
  Future<Void> finish();

  /** Ends the appending once what was appended is written, and keeps the bytes. Idempotent. */
  Future<Void> release();
}
