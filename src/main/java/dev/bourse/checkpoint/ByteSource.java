package dev.bourse.checkpoint;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/** Bytes on their way in. */
public interface ByteSource {
  /** How many there are, when that was told. */
  OptionalLong length();

  /** What they are said to be. */
  Optional<String> contentType();

  /**
   * Hands the bytes over block by block, waiting while too many blocks are under way. Succeeds with
   * their number once all were taken; fails with the sink's failure, or when their sender left, and
   * then too only once no block is under way.
   */
  Future<Long> read(int blockBytes, Function<Buffer, Future<Void>> sink);
}
