package dev.bourse.blob;

import io.vertx.core.Future;
import java.util.Optional;
import java.util.OptionalLong;

/** Incoming bytes, such as the body of a request. */
public interface ByteSource {
  /** Returns how many bytes the sender announced; empty if it announced no length. */
  OptionalLong length();

  /** Returns the media type that the sender declared, which is not verified. */
  Optional<String> contentType();

  /**
   * Checks that the sender is still connected. Call it before work that only the sender benefits
   * from.
   *
   * @throws RuntimeException the failure of {@link #read} if the sender is known to have
   *     disconnected
   */
  default void requireSender() {}

  /**
   * Passes the bytes to the sink in order, in blocks of {@code blockBytes} except a shorter last
   * one, and pauses while too many blocks are pending. May be called once.
   *
   * <p>Succeeds with the number of bytes after the sink took all of them. Fails with the sink's
   * failure, after which no more bytes are read, or because the sender disconnected; in both cases
   * after every block passed to the sink has completed.
   *
   * @param blockBytes 1 to 1,048,576
   * @param expectedBytes the first byte beyond this number is passed on at once, even in a short
   *     block, so that the sink can reject it without waiting for an endless sender
   */
  Future<Long> read(int blockBytes, long expectedBytes, Sink sink);

  /** Reads a source of unbounded length. */
  default Future<Long> read(int blockBytes, Sink sink) {
    return read(blockBytes, Long.MAX_VALUE, sink);
  }

  @FunctionalInterface
  interface Sink {
    /** Takes a block. The bytes may be used until the returned future completes. */
    Future<Void> take(byte[] bytes, int from, int to);
  }
}
