package dev.bourse.edge;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Limit;
import dev.bourse.core.LimitPair;
import dev.bourse.edge.limits.ProcessLimits;
import java.util.concurrent.atomic.AtomicLong;

/** How many streams of events all event loops may have open together, and what these may hold. */
final class StreamRoom {
  /**
   * Of one token, over all event loops: a program follows its few clusters from a few places; more
   * is a client that reconnects without closing.
   */
  static final int MAX_PER_TOKEN = 32;

  /** When a refused client may retry: an ended stream is noticed by its heartbeat at the latest. */
  private static final long RETRY_MILLIS = 15_000;

  private final int most;
  private final long mostWaiting;
  private final AtomicLong waiting = new AtomicLong();
  private final LimitPair open;

  /**
   * @param most streams, of which an organization may have as many as are free
   * @param mostWaiting bytes of events that wait for clients, before more than an even share is too
   *     much for one
   */
  StreamRoom(int most, long mostWaiting) {
    this.most = most;
    this.mostWaiting = mostWaiting;
    this.open =
        new LimitPair(
            Limit.of("streams of events", Integer.MAX_VALUE)
                .sharing(MAX_PER_TOKEN)
                .refusing(StreamRoom::ofTokenRefused),
            Limit.of("streams of events", most).sharingFairly().refusing(StreamRoom::ofAllRefused));
  }

  private static ApiError ofTokenRefused(String bound) {
    return ApiError.tooOften(
        "streams",
        "the token has " + MAX_PER_TOKEN + " streams of events open; close one",
        RETRY_MILLIS);
  }

  private static ApiError ofAllRefused(String bound) {
    return ApiError.retryLater(
        ErrorCode.OVERLOADED,
        "limit reached: %s streams of events open here; close some, or try again later"
            .formatted(bound),
        RETRY_MILLIS);
  }

  /** Of what a process can carry; a fifth of the connections stays for requests. */
  static StreamRoom of(ProcessLimits process) {
    return new StreamRoom(Math.max(1, process.connections() / 5 * 4), process.eventBytes());
  }

  /**
   * Counts a stream in. Refused with {@code overloaded} and {@code rate-limited}.
   *
   * @return what counts it out
   */
  LimitPair.Places enter(String token, String owner) {
    return open.enter(token, owner);
  }

  /** How many are open. */
  int open() {
    return open.running();
  }

  /** Counts bytes in that wait for a client. */
  void waits(int bytes) {
    waiting.addAndGet(bytes);
  }

  /** Bytes do not wait any more. */
  void waited(int bytes) {
    waiting.addAndGet(-bytes);
  }

  /** Bytes of events that wait for clients. */
  long waitingBytes() {
    return waiting.get();
  }

  /** Whether there is room for more, of a stream that has so many bytes waiting. */
  boolean hasRoom(int own) {
    return own == 0 || waiting.get() < mostWaiting || own < mostWaiting / most;
  }
}
