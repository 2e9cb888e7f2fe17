package dev.bourse.edge;

import dev.bourse.blob.ByteSource;
import dev.bourse.contract.OperationContract;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import io.vertx.core.Future;
import java.io.ByteArrayOutputStream;

/**
 * The body of an operation that takes bytes. Nothing of it is read before {@link #read}, which is
 * to be called on the call's event loop; the client waits while {@value InboundBody#MAX_WAITING}
 * blocks are not taken, and {@link ClientGone} tells that it left.
 */
public interface Inbound extends ByteSource {
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

  /** The client left before its body ended. */
  final class ClientGone extends RuntimeException {
    private static final long serialVersionUID = 1;

    ClientGone() {
      super("the client left before the body ended", null, false, false);
    }
  }
}
