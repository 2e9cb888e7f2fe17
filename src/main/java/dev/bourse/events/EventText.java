package dev.bourse.events;

import dev.bourse.capacity.Activity;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.ClusterEvent.Declared;
import dev.bourse.capacity.ClusterView;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.Objects;
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
    ClusterEvent event = entry.activity().event();
    JsonObject node = new JsonObject().put("public_ip", event.publicIp());
    String at = Times.rfc3339(entry.atMillis());
    if (event instanceof ClusterEvent.Granted) {
      return Optional.of(event(entry.id(), "grant", node.put("granted_at", at)));
    }
    if (event instanceof ClusterEvent.NoticeGiven notice) {
      node.put("reason", notice.releaseReason())
          .put("noticed_at", at)
          .put("reclaim_at", Times.rfc3339(notice.endsAt()));
      return Optional.of(event(entry.id(), "notice", node));
    }
    if (event instanceof ClusterEvent.NoticeWithdrawn) {
      return Optional.of(event(entry.id(), "notice-withdrawn", node.put("withdrawn_at", at)));
    }
    if (event instanceof ClusterEvent.Released || event instanceof ClusterEvent.Unwound) {
      String reason =
          Objects.requireNonNullElse(event.releaseReason(), Allocation.Reason.UNWOUND.label());
      return Optional.of(
          event(entry.id(), "reclaim", node.put("reason", reason).put("reclaimed_at", at)));
    }
    if (event instanceof ClusterEvent.AlertRaised raised) {
      return Optional.of(
          event(
              entry.id(),
              "alert",
              new JsonObject()
                  .put("alert", raised.alert().label())
                  .put("detail", raised.cause())
                  .put("raised_at", at)));
    }
    return Optional.empty();
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
