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

/** Events of a cluster as they go over the wire. */
final class EventText {
  /** How long a client had better wait before it connects again. */
  static final Buffer RETRY = Buffer.buffer("retry: 3000\n\n");

  private EventText() {}

  /** The capacity state, as the read answers it. */
  static Buffer capacity(long id, ClusterView view) {
    return head(id, "capacity").appendBuffer(view.encoded().json()).appendString("\n\n");
  }

  /** An entry of the activity, as a page of it shows it. */
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
   * What a stream tells of an entry of the activity: nodes that come or go or are to, and alerts.
   */
  static Optional<Buffer> node(ActivityStore.StoredActivity entry) {
    return NodeEvent.of(entry).map(told -> event(entry.id(), told.name(), told.data()));
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
