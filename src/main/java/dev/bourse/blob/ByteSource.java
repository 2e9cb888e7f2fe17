package dev.bourse.blob;

import io.vertx.core.Future;
import java.util.Optional;
import java.util.OptionalLong;

/** Bytes on their way in. */
public interface ByteSource {
  /** How many there are, when that was told. */
  OptionalLong length();

  /** What they are said to be. */
  Optional<String> contentType();

  /**
   * Hands the bytes over block by block, waiting while too many blocks are under way. Succeeds with
   * their number once all were taken; fails with the sink's failure, or when their sender left, and
   * then too only once all that came is handed over and no block is under way.
   *
   * @param expectedBytes what comes beyond so many is handed over at its first byte, for the sink
   *     to refuse
   */
  Future<Long> read(int blockBytes, long expectedBytes, Sink sink);

  /** Takes blocks. */
  @FunctionalInterface
  interface Sink {
    /** The bytes are the sink's until the future completes. */
    Future<Void> take(byte[] bytes, int from, int to);
  }
}
