package dev.bourse.blob;

import io.vertx.core.Future;

/** An upload that is open for appending. May be used from any thread. */
public interface Upload {
  /** How many bytes are kept: where the next block begins once all appends have resolved. */
  long stored();

  /**
   * Has the inspector see a block and writes it after the others. Blocks may be appended while
   * earlier ones wait; they are taken in the order of the calls.
   *
   * <p>A success means that the bytes outlive the process, not that they are durable. A failure
   * leaves the upload at the last whole block, and every later append fails in the same way,
   * because the inspector has seen bytes that are not there: release the upload and open it again.
   * The reasons are {@link StorageFull}, {@link StorageFault}, {@link BlobGone} when the upload was
   * abandoned, {@link StorageBusy} when the store closes, and whatever the inspector threw. A block
   * too many (more wait than the store's bound) and a block after {@link #release} fail with {@link
   * IllegalStateException}: whoever appends has to wait for what it appended.
   *
   * @param bytes the store's until the future completes; after that the caller may use it again
   * @param from where the block begins
   * @param to where it ends; at most {@link BlobStore#MAX_BLOCK_BYTES} after the beginning
   */
  Future<Void> append(byte[] bytes, int from, int to);

  /** Ends the appending once what was appended is written, and keeps the bytes. Idempotent. */
  Future<Void> release();
}
