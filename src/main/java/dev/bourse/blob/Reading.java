package dev.bourse.blob;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.channels.FileChannel;
import java.util.Optional;

/** A blob that is open for reading and stays readable when it is deleted. May be shared. */
public interface Reading {
  /** Returns the blob's length in bytes. */
  long length();

  /**
   * Returns the blob as an open file if it is one, so that the operating system can send it without
   * copying bytes through the process. The file belongs to this reading: do not close it or move
   * its position.
   */
  Optional<FileChannel> file();

  /**
   * Reads exactly {@code length} bytes of the blob from an offset; the range must lie within the
   * blob.
   *
   * @param length 1 to {@link BlobStore#MAX_BLOCK_BYTES}
   */
  Future<Buffer> piece(long offset, int length);

  /** Reads the only piece the caller needs, so a store does not read ahead. */
  default Future<Buffer> onlyPiece(long offset, int length) {
    return piece(offset, length);
  }

  /** Closes the reading, which holds an open file or a connection until then. Idempotent. */
  Future<Void> close();
}
