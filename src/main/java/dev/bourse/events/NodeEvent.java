package dev.bourse.events;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.json.JsonRecord;
import dev.bourse.schemas.vm.AlertEventJson;
import dev.bourse.schemas.vm.GrantEventJson;
import dev.bourse.schemas.vm.NoticeEventJson;
import dev.bourse.schemas.vm.NoticeWithdrawnEventJson;
import dev.bourse.schemas.vm.ReclaimEventJson;
import io.vertx.core.json.JsonObject;
import java.util.Objects;
import java.util.Optional;

/**
 * The event of an activity entry that clients receive at once: nodes granted, reclaimed or
 * announced, and alerts.
 *
 * @param name of the event in the stream
 * @param json its data
 */
public record NodeEvent(String name, JsonRecord json) {
  /** Returns the event of an entry; empty for entries that are only listed. */
  public static Optional<NodeEvent> of(ActivityStore.StoredActivity entry) {
    ClusterEvent event = entry.activity().event();
    String node = event.publicIp();
    long at = entry.atMillis();
    if (event instanceof ClusterEvent.Granted) {
      return Optional.of(new NodeEvent("grant", new GrantEventJson(node, at)));
    }
    if (event instanceof ClusterEvent.NoticeGiven notice) {
      return Optional.of(
          new NodeEvent(
              "notice", new NoticeEventJson(node, notice.reason().label(), at, notice.endsAt())));
    }
    if (event instanceof ClusterEvent.NoticeWithdrawn) {
      return Optional.of(new NodeEvent("notice-withdrawn", new NoticeWithdrawnEventJson(node, at)));
    }
    if (event instanceof ClusterEvent.Released || event instanceof ClusterEvent.Unwound) {
      String reason =
          Objects.requireNonNullElse(event.releaseReason(), Allocation.Reason.UNWOUND.label());
      return Optional.of(new NodeEvent("reclaim", new ReclaimEventJson(node, reason, at)));
    }
    if (event instanceof ClusterEvent.AlertRaised raised) {
      return Optional.of(
          new NodeEvent("alert", new AlertEventJson(raised.alert().label(), raised.cause(), at)));
    }
    return Optional.empty();
  }

  /** Returns its data as a tree. */
  public JsonObject data() {
    return json.toTree();
  }
}
