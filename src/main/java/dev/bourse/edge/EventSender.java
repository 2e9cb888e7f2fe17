package dev.bourse.edge;

import dev.bourse.access.Caller;
import dev.bourse.access.SessionAuthenticator.SignedIn;
import dev.bourse.core.ApiException;
import dev.bourse.edge.limits.OpenConnection;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerResponse;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Sends one stream of events. Bytes that the client has not taken wait in its connection, up to a
 * limit per stream and one for all streams. A client beyond them is disconnected, and so is one
 * that takes no bytes for as long as a silent connection may live. The bytes are counted here,
 * because a full connection queue only shows that sixteen writes of any size wait. Periodic
 * comments show both ends that the other is alive.
 */
final class EventSender implements EventSource.Sink {
  /** Writes that may wait: at most 64 at the start of a stream, and those of some ticks since. */
  static final int MAX_WAITING = 128;

  /** Bytes that may wait before another event is too many; a single event may be longer. */
  static final int MAX_WAITING_BYTES = 512 * 1_024;

  /** Half of the silence that common proxies allow. */
  static final long BEAT_NANOS = TimeUnit.SECONDS.toNanos(15);

  private static final Buffer BEAT = Buffer.buffer(":\n\n");

  private final Exchange exchange;
  private final LoopContext loop;
  private final OpenConnection connection;
  private final EventSource source;
  private final Caller caller;
  private int waiting;
  private int waitingBytes;
  private boolean ended;
  private long nextBeatNanos;
  private @Nullable HttpServerResponse response;
  private Runnable closing = () -> {};

  /**
   * @param caller the caller whose streams it counts with
   */
  EventSender(
      Exchange exchange,
      LoopContext loop,
      OpenConnection connection,
      EventSource source,
      Caller caller) {
    this.exchange = exchange;
    this.loop = loop;
    this.connection = connection;
    this.source = source;
    this.caller = caller;
  }

  /** Sends the head and starts the source. */
  void begin() {
    try {
      loop.streams().enter(this, caller);
    } catch (ApiException refused) {
      exchange.fail(refused);
      return;
    }
    HttpServerResponse begun = exchange.beginStreamed("");
    if (begun == null || HttpMethod.HEAD.equals(exchange.request().method())) {
      loop.streams().leave(this);
      if (begun != null) {
        exchange.end(begun, null);
      }
      return;
    }
    response = begun;
    // Asks proxies not to buffer the response.
    begun.headers().add("x-accel-buffering", "no");
    begun.setChunked(true);
    begun.closeHandler(gone -> gone());
    nextBeatNanos = loop.nanos() + BEAT_NANOS;
    write(BEAT);
    closing = source.begin(this);
    if (ended) {
      closing.run();
    }
  }

  @Override
  public Executor loop() {
    return loop.streams().loop();
  }

  @Override
  public void send(Buffer events) {
    if (ended) {
      return;
    }
    if (waiting >= MAX_WAITING
        || waitingBytes >= MAX_WAITING_BYTES
        || !loop.streams().room().hasRoom(waitingBytes)) {
      drop();
    } else {
      write(events);
    }
  }

  private void write(Buffer bytes) {
    HttpServerResponse open = response;
    if (open == null) {
      return;
    }
    if (waiting++ == 0) {
      // From now on the client has to take bytes; further events do not extend its time.
      connection.sends();
    }
    waitingBytes += bytes.length();
    loop.streams().room().addWaiting(bytes.length());
    open.write(bytes).onComplete(taken -> taken(bytes.length()));
  }

  /** Records bytes that the client took, or that it will never take. */
  private void taken(int bytes) {
    waiting--;
    waitingBytes -= bytes;
    loop.streams().room().removeWaiting(bytes);
    if (!ended && waiting == 0) {
      connection.sent();
    } else if (!ended) {
      connection.sends();
    }
  }

  /** Sends a comment if one is due. */
  void beat(long nowNanos) {
    if (ended || nowNanos < nextBeatNanos) {
      return;
    }
    nextBeatNanos = nowNanos + BEAT_NANOS;
    if (waiting == 0) {
      write(BEAT);
    }
  }

  /** Returns the session that opened the stream; null if a token opened it. */
  @Nullable SignedIn session() {
    return exchange.received().session();
  }

  /** Returns whether the token that opened the stream is still valid. */
  boolean isTokenKnown() {
    return loop.isStillKnown(exchange.request());
  }

  @Override
  public void end() {
    HttpServerResponse open = response;
    if (!ended && open != null) {
      finish();
      exchange.end(open, null);
    }
  }

  /** Disconnects a client that does not read. */
  private void drop() {
    loop.edge().metrics().recordDroppedStream();
    finish();
    exchange.leave();
    connection.close();
  }

  /** Ends the stream after its connection was closed. */
  private void gone() {
    if (!ended) {
      finish();
      exchange.leave();
    }
  }

  private void finish() {
    ended = true;
    loop.streams().leave(this);
    closing.run();
  }
}
