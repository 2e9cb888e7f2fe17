package dev.bourse.edge;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.channels.FileChannel;
import java.util.Optional;

/**
 * Bytes that can be sent from anywhere within them. Closed by the edge once it is done with them.
 */
public interface StoredBytes {
  long length();

  /** The file they are, which the system can send by itself; empty when they are elsewhere. */
  Optional<FileChannel> file();

  /** Some of them; for those that are in no file. */
  Future<Buffer> piece(long offset, int length);

  void close();
}
