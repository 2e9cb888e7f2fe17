package dev.bourse.edge;

import dev.bourse.contract.OperationContract;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import io.vertx.core.Future;
import java.io.ByteArrayOutputStream;
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
  default Future<Long> read(int blockBytes, Sink sink) {
    return read(blockBytes, Long.MAX_VALUE, sink);
  }

  /**
   * The same for a body of which no more than so many bytes are expected: what comes beyond them is
   * handed over at its first byte, in a block however short, so that the sink can refuse it at once
   * and need not wait for a client that never ends.
   *
   * @param expectedBytes 0 or more
   */
  Future<Long> read(int blockBytes, long expectedBytes, Sink sink);

  /**
   * Reads a body that must be JSON in UTF-8, and no longer than so many bytes.
   *
   * <p>Fails with {@code unsupported-media-type}, {@code too-large}, or as {@link #read}.
   */
  default Future<byte[]> readJson(int maxBytes) {
    String type = contentType().orElse("missing");
    if (!Headers.isInUtf8(type, OperationContract.JSON)) {
      return Future.failedFuture(
          ApiError.of(
              ErrorCode.UNSUPPORTED_MEDIA_TYPE,
              "Content-Type is " + Text.shown(type) + "; expected " + OperationContract.JSON));
    }
    if (length().orElse(0) > maxBytes) {
      return Future.failedFuture(ReceivedRequest.tooLarge(maxBytes));
    }
    ByteArrayOutputStream collected = new ByteArrayOutputStream();
    return read(
            JSON_BLOCK_BYTES,
            (bytes, from, to) -> {
              if (collected.size() + to - from > maxBytes) {
                return Future.failedFuture(ReceivedRequest.tooLarge(maxBytes));
              }
              collected.write(bytes, from, to - from);
              return Future.succeededFuture();
            })
        .map(length -> collected.toByteArray());
  }

  /** Most messages in JSON fit in one block. */
  int JSON_BLOCK_BYTES = 8_192;

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
