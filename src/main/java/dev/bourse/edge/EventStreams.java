package dev.bourse.edge;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/** The open streams of events of one event loop, and what bounds their number. */
final class EventStreams {
  /**
   * Of one token, over all event loops: a program follows its few clusters from a few places; more
   * is a client that reconnects without closing.
   */
  static final int MAX_PER_TOKEN = 32;

  /** When a refused client may retry: an ended stream is noticed by its heartbeat at the latest. */
  private static final long RETRY_MILLIS = 15_000;

  private final Map<String, Integer> ofTokens;
  private final Executor loop;
  private final Set<EventSender> open = new LinkedHashSet<>();
  private final int most;
  private final AtomicInteger all;

  /**
   * @param most over all event loops
   * @param all how many there are, on all event loops
   * @param ofTokens how many streams each token has; shared by all event loops
   * @param loop runs something on this event loop
   */
  EventStreams(int most, AtomicInteger all, Map<String, Integer> ofTokens, Executor loop) {
    this.most = most;
    this.all = all;
    this.ofTokens = ofTokens;
    this.loop = loop;
  }

  Executor loop() {
    return loop;
  }

  /** Counts a stream in. Refused with {@code overloaded} and {@code rate-limited}. */
  void enter(EventSender sender, String token) {
    if (all.get() >= most) {
      throw ApiError.retryLater(
          ErrorCode.OVERLOADED, "too many streams of events are open here", RETRY_MILLIS);
    }
    if (ofTokens.merge(token, 1, Integer::sum) > MAX_PER_TOKEN) {
      release(token);
      throw ApiError.tooOften(
          "streams",
          "the token has " + MAX_PER_TOKEN + " streams of events open; close one",
          RETRY_MILLIS);
    }
    open.add(sender);
    all.incrementAndGet();
  }

  void leave(EventSender sender, String token) {
    if (open.remove(sender)) {
      all.decrementAndGet();
      release(token);
    }
  }

  private void release(String token) {
    ofTokens.computeIfPresent(token, (key, count) -> count == 1 ? null : count - 1);
  }

  /** Sends heartbeats that are due, and ends streams whose token works no more. */
  void sweep(long nowNanos) {
    List.copyOf(open).forEach(sender -> sender.beat(nowNanos));
  }

  /** Ends all streams: the service stops. */
  void end() {
    List.copyOf(open).forEach(EventSender::end);
  }
}
