package dev.bourse.edge;

import dev.bourse.access.Caller;
import dev.bourse.access.SessionAuthenticator.SignedIn;
import dev.bourse.core.BulkheadPair;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** The open streams of events of one event loop. */
final class EventStreams {
  private final StreamRoom room;
  private final Executor loop;
  private final Map<EventSender, BulkheadPair.Places> open = new LinkedHashMap<>();
  private final Function<Set<String>, Future<Set<String>>> listInForce;

  /** True while sessions are looked up; one look-up runs at a time. */
  private boolean isLooking;

  /**
   * @param room the limits of all event loops
   * @param loop runs tasks on this event loop
   * @param listInForce returns those of some session ids that are valid
   */
  EventStreams(
      StreamRoom room, Executor loop, Function<Set<String>, Future<Set<String>>> listInForce) {
    this.room = room;
    this.loop = loop;
    this.listInForce = listInForce;
  }

  Executor loop() {
    return loop;
  }

  StreamRoom room() {
    return room;
  }

  /** Adds a stream, or rejects it as {@link StreamRoom#enter} does. */
  void enter(EventSender sender, Caller caller) {
    open.put(sender, room.enter(caller.budgetKey(), caller.owner()));
  }

  void leave(EventSender sender) {
    BulkheadPair.Places places = open.remove(sender);
    if (places != null) {
      places.close();
    }
  }

  /** Sends heartbeats that are due. */
  void sweep(long nowNanos) {
    List.copyOf(open.keySet()).forEach(sender -> sender.beat(nowNanos));
  }

  /** Ends the streams of callers who are no longer authorized. */
  void endRefused() {
    Set<String> sessions = new HashSet<>();
    for (EventSender sender : List.copyOf(open.keySet())) {
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

  /** Ends the streams of invalid sessions; none if the store does not answer. */
  private void endAllBut(Set<String> asked, AsyncResult<Set<String>> inForce) {
    isLooking = false;
    if (inForce.failed()) {
      return;
    }
    for (EventSender sender : List.copyOf(open.keySet())) {
      SignedIn session = sender.session();
      if (session != null
          && asked.contains(session.id())
          && !inForce.result().contains(session.id())) {
        sender.end();
      }
    }
  }

  /** Ends all streams when the service stops. */
  void end() {
    List.copyOf(open.keySet()).forEach(EventSender::end);
  }
}
