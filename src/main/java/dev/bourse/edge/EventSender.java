package dev.bourse.edge;

import dev.bourse.access.Caller;
import dev.bourse.access.SessionAuthenticator.SignedIn;
import dev.bourse.core.ApiError;
import dev.bourse.edge.limits.OpenConnection;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerResponse;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The sending of one stream of events. What the client has not taken waits in its connection, up to
 * a bound of its own and one of all streams; a client beyond them is dropped, and so is one that
 * takes nothing for as long as a silent connection may live. It is counted here, byte for byte:
 * that the queue of a connection is full says that sixteen writes wait in it, of whatever size. A
 * comment every so often shows both ends that the other is there.
 */
final class EventSender implements EventSource.Sink {
  /** Sends that may wait: those a stream begins with, 64 at most, and some ticks' since then. */
  static final int MAX_WAITING = 128;

  /** Bytes that may wait before one more is too much; a single event may be longer. */
  static final int MAX_WAITING_BYTES = 512 * 1_024;

  /** Half of what common proxies let a connection be silent for. */
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
   * @param caller whose streams it counts with
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

  /** Sends the head and lets the source begin. */
  void begin() {
    try {
      loop.streams().enter(this, caller);
    } catch (ApiError refused) {
      exchange.fail(refused);
      return;
    }
    HttpServerResponse begun = exchange.beginStreamed();
    if (begun == null || HttpMethod.HEAD.equals(exchange.request().method())) {
      loop.streams().leave(this);
      if (begun != null) {
        exchange.end(begun, null);
      }
      return;
    }
    response = begun;
    // This asks proxies not to buffer the answer.
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
      // From then on the client has to take something: what comes behind it gives it no more time.
      connection.sends();
    }
    waitingBytes += bytes.length();
    loop.streams().room().waits(bytes.length());
    open.write(bytes).onComplete(taken -> taken(bytes.length()));
  }

  /** The client took it, or will never take anything any more. */
  private void taken(int bytes) {
    waiting--;
    waitingBytes -= bytes;
    loop.streams().room().waited(bytes);
    if (!ended && waiting == 0) {
      connection.sent();
    } else if (!ended) {
      connection.sends();
    }
  }

  /** Sends a comment when one is due. */
  void beat(long nowNanos) {
    if (ended || nowNanos < nextBeatNanos) {
      return;
    }
    nextBeatNanos = nowNanos + BEAT_NANOS;
    if (waiting == 0) {
      write(BEAT);
    }
  }

  /** The session that the stream was opened with; null when a token opened it. */
  @Nullable SignedIn session() {
    return exchange.received().session();
  }

  /** Whether the token that opened the stream would still be let in. */
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
    loop.edge().metrics().streamDropped();
    finish();
    exchange.leave();
    connection.close();
  }

  /** The connection is gone. */
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
