package dev.bourse.edge;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.edge.limits.ProcessLimits;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** What the streams of events of all event loops may be and hold together. */
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
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicLong waiting = new AtomicLong();
  private final Map<String, Integer> ofTokens = new ConcurrentHashMap<>();

  /**
   * @param most streams
   * @param mostWaiting bytes of events that wait for clients, before more than an even share is too
   *     much for one
   */
  StreamRoom(int most, long mostWaiting) {
    this.most = most;
    this.mostWaiting = mostWaiting;
  }

  /** Of what a process can carry; a fifth of the connections stays for requests. */
  static StreamRoom of(ProcessLimits process) {
    return new StreamRoom(Math.max(1, process.connections() / 5 * 4), process.eventBytes());
  }

  /** Counts a stream in. Refused with {@code overloaded} and {@code rate-limited}. */
  void enter(String token) {
    if (open.incrementAndGet() > most) {
      open.decrementAndGet();
      throw ApiError.retryLater(
          ErrorCode.OVERLOADED, "too many streams of events are open here", RETRY_MILLIS);
    }
    if (ofTokens.merge(token, 1, Integer::sum) > MAX_PER_TOKEN) {
      leave(token);
      throw ApiError.tooOften(
          "streams",
          "the token has " + MAX_PER_TOKEN + " streams of events open; close one",
          RETRY_MILLIS);
    }
  }

  void leave(String token) {
    open.decrementAndGet();
    ofTokens.computeIfPresent(token, (key, count) -> count == 1 ? null : count - 1);
  }

  /** How many are open. */
  int open() {
    return open.get();
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
