package dev.bourse.blob;

import io.vertx.core.Future;
import java.util.Optional;
import java.util.OptionalLong;

/** Bytes on their way in, such as the body of a request. */
public interface ByteSource {
  /** How many there are, as their sender says; empty when that was not told. */
  OptionalLong length();

  /** The media type their sender gives them, whatever they are. */
  Optional<String> contentType();

  /**
   * To be called before work that is of use to the sender alone.
   *
   * @throws RuntimeException that reading would fail with, once the sender is known to have left
   */
  default void requireSender() {}

  /**
   * Hands the bytes over in order, in blocks of so many of which the last may be shorter, and waits
   * while too many blocks are not taken. To be called once.
   *
   * <p>Succeeds with the number of bytes once all are taken. Fails, once every block handed over is
   * settled, with the sink's failure, after which nothing more is read, or because the sender left.
   *
   * @param blockBytes 1 to 1,048,576
   * @param expectedBytes what comes beyond so many is handed over at its first byte, in a block
   *     however short, so that the sink can refuse it at once and need not wait for a sender that
   *     never ends
   */
  Future<Long> read(int blockBytes, long expectedBytes, Sink sink);

  /** The same for a source of which any number of bytes may come. */
  default Future<Long> read(int blockBytes, Sink sink) {
    return read(blockBytes, Long.MAX_VALUE, sink);
  }

  /** Takes the blocks. */
  @FunctionalInterface
  interface Sink {
    /** The bytes may be used until the future completes, and not after. */
    Future<Void> take(byte[] bytes, int from, int to);
  }
}
