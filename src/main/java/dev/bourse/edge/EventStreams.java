package dev.bourse.edge;

import dev.bourse.access.Caller;
import dev.bourse.access.SessionAuthenticator.SignedIn;
import dev.bourse.core.LimitPair;
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
  private final Map<EventSender, LimitPair.Places> open = new LinkedHashMap<>();
  private final Function<Set<String>, Future<Set<String>>> listInForce;

  /** Whether sessions are being looked up: of those at most one look-up is under way. */
  private boolean isLooking;

  /**
   * @param room of all event loops
   * @param loop runs something on this event loop
   * @param listInForce those of some sessions, by id, that are in force
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

  /** Counts a stream in. Refused as {@link StreamRoom#enter}. */
  void enter(EventSender sender, Caller caller) {
    open.put(sender, room.enter(caller.budgetKey(), caller.owner()));
  }

  void leave(EventSender sender) {
    LimitPair.Places places = open.remove(sender);
    if (places != null) {
      places.close();
    }
  }

  /** Sends heartbeats that are due. */
  void sweep(long nowNanos) {
    List.copyOf(open.keySet()).forEach(sender -> sender.beat(nowNanos));
  }

  /** Ends the streams of callers who would not be let in any more. */
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

  /** A store that does not answer ends no stream: nobody is known to have signed out. */
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

  /** Ends all streams: the service stops. */
  void end() {
    List.copyOf(open.keySet()).forEach(EventSender::end);
  }
}
