package dev.bourse.events;

import dev.bourse.capacity.Activity;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.ClusterEvent.Declared;
import dev.bourse.capacity.ClusterView;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/** Encodes events of a cluster for the wire. */
final class EventText {
  /** Delay before a client reconnects. */
  static final Buffer RETRY = Buffer.buffer("retry: 3000\n\n");

  private EventText() {}

  /** Encodes the capacity state, with the same JSON as its read. */
  static Buffer capacity(long id, ClusterView view) {
    return head(id, "capacity").appendBuffer(view.encoded().json()).appendString("\n\n");
  }

  /** Formats an entry of the activity, as in a page of it. */
  static JsonObject entry(ActivityStore.StoredActivity entry) {
    Activity activity = entry.activity();
    ClusterEvent event = activity.event();
    Declared declared = event instanceof Declared request ? request : null;
    return new JsonObject()
        .put("id", entry.id())
        .put("ts", Times.rfc3339(entry.atMillis()))
        .put("cluster", entry.cluster())
        .put("kind", activity.kind())
        .put("actor", activity.actor())
        .put("who", declared == null ? null : activity.who())
        .put("max_gpus", declared == null ? null : declared.maxGpus())
        .put(
            "max_price_per_gpu_hour",
            declared == null ? null : Price.toUsd(declared.ceilingCents()))
        .put("note", event.note())
        .put("reason", event.releaseReason());
  }

  /**
   * Encodes the event of an activity entry: nodes granted, reclaimed or announced, and alerts;
   * empty for other entries.
   */
  static Optional<Buffer> node(ActivityStore.StoredActivity entry) {
    return NodeEvent.of(entry).map(told -> event(entry.id(), told.name(), told.data()));
  }

  /** Encodes a warning that a rival's bid is close. */
  static Buffer warning(long id, long ceilingCents, long rivalCents, int nodes) {
    return event(
        id,
        "warning",
        new JsonObject()
            .put("max_price_per_gpu_hour", Price.toUsd(ceilingCents))
            .put("rival_price_per_gpu_hour", Price.toUsd(rivalCents))
            .put("nodes_unprotected", nodes));
  }

  /** Encodes that some events after an id were left out. */
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
