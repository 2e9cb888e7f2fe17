package dev.bourse.edge;

import io.vertx.core.Future;
import java.util.Optional;
import java.util.OptionalLong;

/** The body of an operation that takes bytes. Nothing of it is read before {@link #read}. */
public interface Inbound {
  /** How long the client says it is; empty for a body in chunks of unknown total length. */
  OptionalLong length();

  /** The Content-Type the client sends, whatever it is. */
  Optional<String> contentType();

  /**
   * Reads the body in blocks of so many bytes, the last of which may be shorter, and hands each to
   * the sink in order. The client waits while {@value InboundBody#MAX_WAITING} of them are not
   * taken.
   *
   * <p>Succeeds with the number of bytes once the body has ended and every block is taken. Fails,
   * once every block handed over is settled, with the sink's failure, after which nothing more is
   * read, or with {@link ClientGone}. To be called once, on the call's event loop.
   *
   * @param blockBytes 1 to 1,048,576
   */
  Future<Long> read(int blockBytes, Sink sink);

  /** Takes the blocks of a body. */
  @FunctionalInterface
  interface Sink {
    /** The bytes may be used until the future completes, and not after. */
    Future<Void> take(byte[] bytes, int from, int to);
  }

  /** The client left before its body ended. */
  final class ClientGone extends RuntimeException {
    private static final long serialVersionUID = 1;

    ClientGone() {
      super("the client left before the body ended", null, false, false);
    }
  }
}
