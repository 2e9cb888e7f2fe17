package dev.bourse.events;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonObject;
import java.util.Objects;
import java.util.Optional;

/**
 * The event of an activity entry that clients receive at once: nodes granted, reclaimed or
 * announced, and alerts.
 *
 * @param name of the event in the stream
 */
public record NodeEvent(String name, JsonObject data) {
  /** Returns the event of an entry; empty for entries that are only listed. */
  public static Optional<NodeEvent> of(ActivityStore.StoredActivity entry) {
    ClusterEvent event = entry.activity().event();
    JsonObject node = new JsonObject().put("public_ip", event.publicIp());
    String at = Times.rfc3339(entry.atMillis());
    if (event instanceof ClusterEvent.Granted) {
      return Optional.of(new NodeEvent("grant", node.put("granted_at", at)));
    }
    if (event instanceof ClusterEvent.NoticeGiven notice) {
      node.put("reason", notice.releaseReason())
          .put("noticed_at", at)
          .put("reclaim_at", Times.rfc3339(notice.endsAt()));
      return Optional.of(new NodeEvent("notice", node));
    }
    if (event instanceof ClusterEvent.NoticeWithdrawn) {
      return Optional.of(new NodeEvent("notice-withdrawn", node.put("withdrawn_at", at)));
    }
    if (event instanceof ClusterEvent.Released || event instanceof ClusterEvent.Unwound) {
      String reason =
          Objects.requireNonNullElse(event.releaseReason(), Allocation.Reason.UNWOUND.label());
      return Optional.of(
          new NodeEvent("reclaim", node.put("reason", reason).put("reclaimed_at", at)));
    }
    if (event instanceof ClusterEvent.AlertRaised raised) {
      return Optional.of(
          new NodeEvent(
              "alert",
              new JsonObject()
                  .put("alert", raised.alert().label())
                  .put("detail", raised.cause())
                  .put("raised_at", at)));
    }
    return Optional.empty();
  }
}
