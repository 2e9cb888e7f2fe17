package dev.bourse.edge;

import dev.bourse.core.ApiException;
import dev.bourse.core.Bulkhead;
import dev.bourse.core.BulkheadPair;
import dev.bourse.core.ErrorCode;
import dev.bourse.edge.limits.ProcessLimits;
import java.util.concurrent.atomic.AtomicLong;

/** The limits of open event streams and their memory, over all event loops. */
final class StreamRoom {
  /**
   * The limit of one token, over all event loops: a program follows a few clusters from a few
   * places; more streams mean a client that reconnects without closing.
   */
  static final int MAX_PER_TOKEN = 32;

  /** When a rejected client may retry: a heartbeat detects an ended stream within this time. */
  private static final long RETRY_MILLIS = 15_000;

  private final int most;
  private final long mostWaiting;
  private final AtomicLong waiting = new AtomicLong();
  private final BulkheadPair open;

  /**
   * @param most the limit of streams; an organization may open one only while it has fewer than are
   *     free
   * @param mostWaiting bytes of events waiting for clients, beyond which each stream is limited to
   *     an even share
   */
  StreamRoom(int most, long mostWaiting) {
    this.most = most;
    this.mostWaiting = mostWaiting;
    this.open =
        new BulkheadPair(
            Bulkhead.of("streams of events", Integer.MAX_VALUE)
                .sharing(MAX_PER_TOKEN)
                .refusing(StreamRoom::ofTokenRefused),
            Bulkhead.of("streams of events", most)
                .sharingFairly()
                .refusing(StreamRoom::ofAllRefused));
  }

  private static ApiException ofTokenRefused(String bound) {
    return ApiException.tooOften(
        "streams",
        "the token has " + MAX_PER_TOKEN + " streams of events open; close one",
        RETRY_MILLIS);
  }

  private static ApiException ofAllRefused(String bound) {
    return ApiException.retryLater(
        ErrorCode.OVERLOADED,
        "limit reached: %s streams of events open here; close some, or try again later"
            .formatted(bound),
        RETRY_MILLIS);
  }

  /** Returns limits that fit a process; a fifth of its connections remains for requests. */
  static StreamRoom of(ProcessLimits process) {
    return new StreamRoom(Math.max(1, process.connections() / 5 * 4), process.eventBytes());
  }

  /**
   * Adds a stream. Fails with {@code overloaded} and {@code rate-limited}.
   *
   * @return removes the stream
   */
  BulkheadPair.Places enter(String token, String owner) {
    return open.enter(token, owner);
  }

  /** Returns how many are open. */
  int open() {
    return open.running();
  }

  /** Adds bytes that wait for a client. */
  void addWaiting(int bytes) {
    waiting.addAndGet(bytes);
  }

  /** Removes bytes that no longer wait. */
  void removeWaiting(int bytes) {
    waiting.addAndGet(-bytes);
  }

  /** Returns the bytes of events that wait for clients. */
  long waitingBytes() {
    return waiting.get();
  }

  /** Returns whether a stream with this many waiting bytes may add more. */
  boolean hasRoom(int own) {
    return own == 0 || waiting.get() < mostWaiting || own < mostWaiting / most;
  }
}
