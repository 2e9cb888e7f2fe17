package dev.bourse.client.capacity;

import io.vertx.core.json.JsonObject;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a table that is drawn anew shows of a cluster: its state, and the last that happened. */
final class WatchedCluster {
  /** As many as fit under the nodes of a usual terminal. */
  private static final int EVENTS = 8;

  private final Deque<String> happened = new ArrayDeque<>();
  private @Nullable JsonObject state;

  void take(EventStream.Event event) {
    if (event.kind().equals("capacity")) {
      state = event.data();
      return;
    }
    happened.addLast(StatusText.told(event));
    if (happened.size() > EVENTS) {
      happened.removeFirst();
    }
  }

  String text() {
    return (state == null ? "" : StatusText.of(List.of(state)))
        + (happened.isEmpty() ? "" : '\n' + String.join("\n", happened) + '\n');
  }
}
