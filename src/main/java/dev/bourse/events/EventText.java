package dev.bourse.events;

import dev.bourse.capacity.ClusterView;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/** Events of a cluster as they go over the wire. */
final class EventText {
  /** How long a client had better wait before it connects again. */
  static final Buffer RETRY = Buffer.buffer("retry: 3000\n\n");

  private static final String GRANTED = "granted ";
  private static final String RELEASED = "released ";
  private static final String UNWOUND = "grant of ";

  private EventText() {}

  /** The capacity state, as the read answers it. */
  static Buffer capacity(long id, ClusterView view) {
    return head(id, "capacity").appendBuffer(view.encoded().json()).appendString("\n\n");
  }

  /** What an entry of the activity says of a node; empty for one that says nothing of any. */
  static Optional<Buffer> node(ActivityStore.StoredActivity entry) {
    String note = String.valueOf(entry.activity().note());
    if (note.startsWith(GRANTED)) {
      return Optional.of(
          event(
              entry.id(),
              "grant",
              new JsonObject()
                  .put("public_ip", address(note, GRANTED))
                  .put("granted_at", Times.rfc3339(entry.atMillis()))));
    }
    boolean isUnwound = note.startsWith(UNWOUND);
    if (isUnwound || note.startsWith(RELEASED)) {
      return Optional.of(
          event(
              entry.id(),
              "reclaim",
              new JsonObject()
                  .put("public_ip", address(note, isUnwound ? UNWOUND : RELEASED))
                  .put("reason", isUnwound ? "unwound" : entry.activity().reason())
                  .put("reclaimed_at", Times.rfc3339(entry.atMillis()))));
    }
    return Optional.empty();
  }

  private static String address(String note, String prefix) {
    return note.substring(prefix.length()).split(" ", 2)[0];
  }

  /** A rival has come close. */
  static Buffer warning(long id, long ceilingCents, long rivalCents, int nodes) {
    return event(
        id,
        "warning",
        new JsonObject()
            .put("max_price_per_gpu_hour", Price.toUsd(ceilingCents))
            .put("rival_price_per_gpu_hour", Price.toUsd(rivalCents))
            .put("nodes_unprotected", nodes));
  }

  /** Some of what followed that event is not told. */
  static Buffer gap(long id, long after) {
    return event(id, "gap", new JsonObject().put("last_event_id", after));
  }

  private static Buffer event(long id, String name, JsonObject data) {
    return head(id, name).appendBuffer(data.toBuffer()).appendString("\n\n");
  }

  private static Buffer head(long id, String name) {
    return Buffer.buffer("id: " + id + "\nevent: " + name + "\ndata: ");
  }
}
