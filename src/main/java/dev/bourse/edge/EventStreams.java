package dev.bourse.edge;

import dev.bourse.access.SessionAuthenticator.SignedIn;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

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
  private final Function<Set<String>, Future<Set<String>>> listInForce;

  /** Whether sessions are being looked up: of those at most one look-up is under way. */
  private boolean isLooking;

  /**
   * @param most over all event loops
   * @param all how many there are, on all event loops
   * @param ofTokens how many streams each token has; shared by all event loops
   * @param loop runs something on this event loop
   * @param listInForce those of some sessions, by id, that are in force
   */
  EventStreams(
      int most,
      AtomicInteger all,
      Map<String, Integer> ofTokens,
      Executor loop,
      Function<Set<String>, Future<Set<String>>> listInForce) {
    this.most = most;
    this.all = all;
    this.ofTokens = ofTokens;
    this.loop = loop;
    this.listInForce = listInForce;
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

  /** Sends heartbeats that are due. */
  void sweep(long nowNanos) {
    List.copyOf(open).forEach(sender -> sender.beat(nowNanos));
  }

  /** Ends the streams of callers who would not be let in any more. */
  void endRefused() {
    Set<String> sessions = new HashSet<>();
    for (EventSender sender : List.copyOf(open)) {
      SignedIn session = sender.session();
      if (session != null) {
        sessions.add(session.id());
      } else if (!sender.isTokenKnown()) {
        sender.end();
      }
    }
    if (!sessions.isEmpty() && !isLooking) {
      isLooking = true;
      listInForce
          .apply(sessions)
          .onComplete(found -> loop.execute(() -> endAllBut(sessions, found)));
    }
  }

  /** A store that does not answer ends no stream: nobody is known to have signed out. */
  private void endAllBut(Set<String> asked, AsyncResult<Set<String>> inForce) {
    isLooking = false;
    if (inForce.failed()) {
      return;
    }
    for (EventSender sender : List.copyOf(open)) {
      SignedIn session = sender.session();
      if (session != null
          && asked.contains(session.id())
          && !inForce.result().contains(session.id())) {
        sender.end();
      }
    }
  }

  /** Ends all streams: the service stops. */
  void end() {
    List.copyOf(open).forEach(EventSender::end);
  }
}
