package dev.bourse.edge;

import dev.bourse.blob.ByteSource;
import dev.bourse.contract.OperationContract;
import dev.bourse.core.ApiException;
import dev.bourse.core.Bulkhead;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import dev.bourse.edge.limits.OpenConnection;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.internal.ContextInternal;
import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * An incoming body. It collects network buffers into blocks, so that hashing and writing take a few
 * thousand calls per gigabyte and not a hundred thousand. Runs on the connection's event loop.
 * Memory is bounded by the waiting blocks, and for all bodies by {@link ProcessLimits#blockBytes},
 * of which one organization has its share.
 */
final class InboundBody implements ByteSource {
  /** Blocks a sink may have at a time: one in progress, one ready, and two for network jitter. */
  static final int MAX_WAITING = 4;

  /** Bytes that Vert.x and the decoder hold of a paused body: one network read, twice. */
  private static final int NETWORK_BYTES = 128 * 1024;

  /** Most JSON messages fit in one block. */
  private static final int JSON_BLOCK_BYTES = 8_192;

  private static final long RETRY_ROOM_MILLIS = 2_000;

  private final HttpServerRequest request;
  private final LoopContext loop;
  private final OpenConnection connection;
  private final String owner;
  private final Runnable ended;

  /** Completes on the context of the request that reads the body, which knows the caller. */
  private Promise<Long> done = Promise.promise();

  private final Deque<byte[]> free = new ArrayDeque<>();
  private @Nullable Sink sink;
  private byte[] block = new byte[0];
  private int filled;
  private int waiting;
  private long expected;
  private long arrived;
  private long total;
  private boolean isEnded;
  private @Nullable Throwable failure;
  private boolean isPaused;
  private final List<Bulkhead.Place> held = new ArrayList<>();

  /** Two blocks are guaranteed, one in progress and one being filled; more if there is room. */
  private int mayWait = 1;

  /**
   * @param owner the owner whose share of the memory for bodies it uses
   * @param ended called after the whole body has arrived
   */
  InboundBody(
      HttpServerRequest request,
      LoopContext loop,
      OpenConnection connection,
      String owner,
      Runnable ended) {
    this.request = request;
    this.loop = loop;
    this.connection = connection;
    this.owner = owner;
    this.ended = ended;
    request.pause();
    connection.bodyWaits();
  }

  @Override
  public OptionalLong length() {
    String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    if (length != null) {
      // The decoder has checked that it is a number; one beyond a long exceeds every limit.
      return OptionalLong.of(length.length() > 18 ? Long.MAX_VALUE : Long.parseLong(length));
    }
    return request.headers().contains(HttpHeaders.TRANSFER_ENCODING)
        ? OptionalLong.empty()
        : OptionalLong.of(0);
  }

  @Override
  public Optional<String> contentType() {
    return Optional.ofNullable(request.getHeader(HttpHeaders.CONTENT_TYPE));
  }

  @Override
  public void requireSender() {
    if (failure instanceof ClientDisconnectedException gone) {
      throw gone;
    }
  }

  @Override
  public Future<Long> read(int blockBytes, long expectedBytes, Sink taking) {
    if (sink != null) {
      throw new IllegalStateException("a body is read once");
    }
    sink = taking;
    done = ContextInternal.current().promise();
    expected = expectedBytes;
    if (failure == null && !hold(NETWORK_BYTES + 2L * blockBytes)) {
      failure = noRoom();
    }
    if (failure != null) {
      settle();
      return done.future();
    }
    block = new byte[blockBytes];
    if ("100-continue".equalsIgnoreCase(request.getHeader(HttpHeaders.EXPECT))) {
      request.response().writeContinue();
    }
    connection.bodyBegins();
    if (request.isEnded()) {
      // A request without a body can end before the caller is known, and takes no handler then.
      request.resume();
      end();
      return done.future();
    }
    request.handler(this::take);
    request.endHandler(ignored -> end());
    request.resume();
    return done.future();
  }

  private void end() {
    isEnded = true;
    ended.run();
    connection.bodyEnds();
    if (filled > 0 && failure == null) {
      handOver();
    }
    settle();
  }

  /**
   * Reads a body that must be JSON in UTF-8 of at most {@code maxBytes} into a buffer that grows by
   * doubling.
   *
   * <p>Fails with {@code unsupported-media-type}, {@code too-large}, or as {@link #read}.
   */
  Future<byte[]> readJson(int maxBytes) {
    String type = contentType().orElse("missing");
    if (!Headers.isInUtf8(type, OperationContract.JSON)) {
      return Future.failedFuture(
          ApiException.of(
              ErrorCode.UNSUPPORTED_MEDIA_TYPE,
              "Content-Type is %s; expected %s",
              Text.shown(type),
              OperationContract.JSON));
    }
    if (length().orElse(0) > maxBytes) {
      return Future.failedFuture(ReceivedRequest.tooLarge(maxBytes));
    }
    if (!hold(2 * Math.min(length().orElse(maxBytes), maxBytes))) {
      return Future.failedFuture(noRoom());
    }
    ByteArrayOutputStream collected = new ByteArrayOutputStream();
    return read(
            JSON_BLOCK_BYTES,
            Long.MAX_VALUE,
            (bytes, from, to) -> {
              if (collected.size() + to - from > maxBytes) {
                return Future.failedFuture(ReceivedRequest.tooLarge(maxBytes));
              }
              collected.write(bytes, from, to - from);
              return Future.succeededFuture();
            })
        .map(length -> collected.toByteArray())
        .onComplete(read -> letGo());
  }

  private ApiException noRoom() {
    loop.edge().occupancy().recordRejection();
    return ApiException.retryLater(
        ErrorCode.OVERLOADED, "too many incoming bodies; try again", RETRY_ROOM_MILLIS);
  }

  private void take(Buffer piece) {
    if (failure != null) {
      return;
    }
    connection.bodyGrows(piece.length());
    int at = 0;
    while (at < piece.length() && failure == null) {
      int length = Math.min(block.length - filled, piece.length() - at);
      boolean goesBeyond = arrived <= expected && length > expected - arrived;
      if (goesBeyond) {
        length = (int) (expected - arrived) + 1;
      }
      piece.getBytes(at, at + length, block, filled);
      at += length;
      filled += length;
      arrived += length;
      if (goesBeyond || filled == block.length) {
        handOver();
      }
    }
  }

  private void handOver() {
    byte[] full = block;
    int length = filled;
    byte[] next = free.poll();
    block = next == null ? new byte[full.length] : next;
    filled = 0;
    waiting++;
    if (waiting == mayWait && mayWait < MAX_WAITING && hold(full.length)) {
      mayWait++;
    }
    if (waiting >= mayWait && !isEnded && !isPaused) {
      isPaused = true;
      request.pause();
      connection.bodyWaits();
    }
    Future<Void> taken;
    try {
      taken = Objects.requireNonNull(sink).take(full, 0, length);
    } catch (Throwable refused) {
      taken = Future.failedFuture(refused);
    }
    if (taken.failed() && failure == null) {
      // Not through the loop's queue, because the rest of this piece must not be handed over.
      failure = taken.cause();
    }
    taken.onComplete(outcome -> loop.later(() -> taken(full, length, outcome.cause())));
  }

  private void taken(byte[] emptied, int length, @Nullable Throwable refusal) {
    free.push(emptied);
    waiting--;
    if (refusal == null) {
      total += length;
    } else if (failure == null) {
      failure = refusal;
    }
    if (isPaused && waiting < mayWait && !isEnded && failure == null) {
      isPaused = false;
      connection.bodyBegins();
      request.resume();
    }
    settle();
  }

  /** Ends the body because its client disconnected or was too slow. */
  void broken() {
    if (!isEnded && failure == null) {
      if (filled > 0 && waiting < MAX_WAITING) {
        // Hands over the bytes that have arrived, because the client may resume after them.
        handOver();
      }
      if (failure == null) {
        failure = new ClientDisconnectedException();
      }
      settle();
    }
  }

  private void settle() {
    if (waiting > 0 || sink == null) {
      return;
    }
    if (failure != null) {
      letGo();
      done.tryFail(failure);
    } else if (isEnded) {
      letGo();
      done.tryComplete(total);
    }
  }

  private boolean hold(long bytes) {
    Optional<Bulkhead.Place> taken = loop.edge().occupancy().reserveBlock(owner, bytes);
    taken.ifPresent(held::add);
    return taken.isPresent();
  }

  private void letGo() {
    held.forEach(Bulkhead.Place::close);
    held.clear();
  }

  /** The client disconnected before its body ended. */
  static final class ClientDisconnectedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    ClientDisconnectedException() {
      super("the client disconnected before the body ended", null, false, false);
    }
  }
}
