package dev.bourse.edge;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A body on its way in: pieces of the network are gathered into blocks, so that whoever hashes and
 * writes them is called a few thousand times a gigabyte and not a hundred thousand times. All of it
 * happens on the connection's event loop; memory is bounded by the blocks that wait.
 */
final class InboundBody implements Inbound {
  /** Blocks a sink may have at a time: one at work, one ready, and two for the network's jitter. */
  static final int MAX_WAITING = 4;

  private final HttpServerRequest request;
  private final EdgeLoop loop;
  private final Connections.Link link;
  private final Runnable ended;
  private final Promise<Long> done = Promise.promise();
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

  /**
   * @param ended called once the body has arrived in full
   */
  InboundBody(HttpServerRequest request, EdgeLoop loop, Connections.Link link, Runnable ended) {
    this.request = request;
    this.loop = loop;
    this.link = link;
    this.ended = ended;
    request.pause();
  }

  @Override
  public OptionalLong length() {
    String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    if (length != null) {
      // The decoder has seen that it is a number; one that no long holds is over every limit.
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
  public Future<Long> read(int blockBytes, long expectedBytes, Sink taking) {
    if (sink != null) {
      throw new IllegalStateException("a body is read once");
    }
    sink = taking;
    block = new byte[blockBytes];
    expected = expectedBytes;
    if (failure != null) {
      settle();
      return done.future();
    }
    if ("100-continue".equalsIgnoreCase(request.getHeader(HttpHeaders.EXPECT))) {
      request.response().writeContinue();
    }
    loop.connections().bodyBegins(link);
    request.handler(this::take);
    request.endHandler(
        end -> {
          isEnded = true;
          ended.run();
          loop.connections().bodyEnds(link);
          if (filled > 0 && failure == null) {
            handOver();
          }
          settle();
        });
    request.resume();
    return done.future();
  }

  private void take(Buffer piece) {
    if (failure != null) {
      return;
    }
    loop.connections().bodyGrows(link, piece.length());
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
    if (waiting == MAX_WAITING && !isEnded) {
      request.pause();
      loop.connections().bodyWaits(link);
    }
    Future<Void> taken;
    try {
      taken = Objects.requireNonNull(sink).take(full, 0, length);
    } catch (RuntimeException refused) {
      taken = Future.failedFuture(refused);
    }
    if (taken.failed() && failure == null) {
      // Not by way of the loop's queue: the rest of this piece is not to be handed over.
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
    if (waiting == MAX_WAITING - 1 && !isEnded && failure == null) {
      loop.connections().bodyBegins(link);
      request.resume();
    }
    settle();
  }

  /** No more of it will come: the client is gone, or was too slow. */
  void broken() {
    if (!isEnded && failure == null) {
      if (filled > 0 && waiting < MAX_WAITING) {
        // What has arrived is kept, by those who can go on from there.
        handOver();
      }
      if (failure == null) {
        failure = new ClientGone();
      }
      settle();
    }
  }

  private void settle() {
    if (waiting > 0 || sink == null) {
      return;
    }
    if (failure != null) {
      done.tryFail(failure);
    } else if (isEnded) {
      done.tryComplete(total);
    }
  }
}
