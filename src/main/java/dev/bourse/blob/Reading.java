package dev.bourse.blob;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.channels.FileChannel;
import java.util.Optional;

/** A blob that is open for reading, and stays readable when it is deleted. May be shared. */
public interface Reading {
  /** The blob's length in bytes. */
  long length();

  /**
   * The blob as an open file when it is one, for the operating system to send without the process
   * touching the bytes. It belongs to this reading: not to be closed, its position not to be moved.
   */
  Optional<FileChannel> file();

  /**
   * Bytes of the blob: as many as asked for, all of them within it.
   *
   * @param length 1 to {@link BlobStore#MAX_BLOCK_BYTES}
   */
  Future<Buffer> piece(long offset, int length);

  /** The same, told that nothing else is wanted of the blob: a store need not prepare for more. */
  default Future<Buffer> onlyPiece(long offset, int length) {
    return piece(offset, length);
  }

  /** Ends the reading, which holds an open file or a connection until then. Idempotent. */
  Future<Void> close();
}
