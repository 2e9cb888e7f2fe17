package dev.bourse.events;

import dev.bourse.capacity.Activity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.ClusterEvent.Declared;
import dev.bourse.capacity.ClusterView;
import dev.bourse.core.Price;
import dev.bourse.json.JsonRecord;
import dev.bourse.schemas.common.ActivityEntryJson;
import dev.bourse.schemas.common.GapEventJson;
import dev.bourse.schemas.common.WarningEventJson;
import io.vertx.core.buffer.Buffer;
import java.util.Optional;

/** Encodes events of a cluster for the wire. */
final class EventText {
  /** Delay before a client reconnects. */
  static final Buffer RETRY = Buffer.buffer("retry: 3000\n\n");

  private EventText() {}

  /** Encodes the cluster's state, with the same JSON as its read. */
  static Buffer capacity(long id, ClusterView view) {
    return head(id, "capacity").appendBuffer(view.encoded().json()).appendString("\n\n");
  }

  /** Returns an entry of the activity, as in a page of it. */
  static ActivityEntryJson entry(ActivityStore.StoredActivity entry, Cluster.Kind surface) {
    Activity activity = entry.activity();
    ClusterEvent event = activity.eventOn(surface);
    Declared declared = event instanceof Declared request ? request : null;
    return new ActivityEntryJson(
        entry.id(),
        entry.atMillis(),
        entry.cluster(),
        activity.kind(),
        activity.actor(),
        declared == null ? null : activity.who(),
        declared == null ? null : declared.maxGpus(),
        declared == null ? null : Price.toUsd(declared.ceilingCents()),
        event.note(),
        event.releaseReason());
  }

  /**
   * Encodes the event of an activity entry: nodes granted, reclaimed or announced, and alerts;
   * empty for other entries.
   */
  static Optional<Buffer> node(ActivityStore.StoredActivity entry, Cluster.Kind surface) {
    return NodeEvent.of(entry, surface).map(told -> event(entry.id(), told.name(), told.json()));
  }

  /** Encodes a warning that a rival's bid is close. */
  static Buffer warning(long id, long ceilingCents, long rivalCents, int nodes) {
    return event(
        id,
        "warning",
        new WarningEventJson(Price.toUsd(ceilingCents), Price.toUsd(rivalCents), nodes));
  }

  /** Encodes that some events after an id were left out. */
  static Buffer gap(long id, long after) {
    return event(id, "gap", new GapEventJson(after));
  }

  private static Buffer event(long id, String name, JsonRecord data) {
    return head(id, name).appendBuffer(data.toBuffer()).appendString("\n\n");
  }

  private static Buffer head(long id, String name) {
    return Buffer.buffer("id: " + id + "\nevent: " + name + "\ndata: ");
  }
}
