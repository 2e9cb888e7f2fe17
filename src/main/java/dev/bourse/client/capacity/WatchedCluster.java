package dev.bourse.client.capacity;

import io.vertx.core.json.JsonObject;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The text of a redrawn table: a cluster's state and its latest events. */
final class WatchedCluster {
  /** The number of events that fit below the nodes on a usual terminal. */
  private static final int EVENTS = 8;

  private final Deque<String> happened = new ArrayDeque<>();
  private @Nullable JsonObject state;

  void take(ClusterEventStream.Event event) {
    if (event.kind().equals("capacity")) {
      state = event.data();
      return;
    }
    happened.addLast(StatusText.describe(event));
    if (happened.size() > EVENTS) {
      happened.removeFirst();
    }
  }

  String text() {
    return (state == null ? "" : StatusText.of(List.of(state), Map.of()))
        + (happened.isEmpty() ? "" : '\n' + String.join("\n", happened) + '\n');
  }
}
