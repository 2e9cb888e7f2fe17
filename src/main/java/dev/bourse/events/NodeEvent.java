package dev.bourse.events;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.json.JsonRecord;
import dev.bourse.schemas.common.AlertEventJson;
import dev.bourse.schemas.k8s.K8sGrantEventJson;
import dev.bourse.schemas.k8s.K8sNoticeEventJson;
import dev.bourse.schemas.k8s.K8sNoticeWithdrawnEventJson;
import dev.bourse.schemas.k8s.K8sReclaimEventJson;
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
  /**
   * Returns the event of an entry as a surface shows it; empty for entries that are only listed.
   */
  public static Optional<NodeEvent> of(ActivityStore.StoredActivity entry, Cluster.Kind surface) {
    ClusterEvent event = entry.activity().eventOn(surface);
    boolean isVm = surface == Cluster.Kind.VM;
    String node = event.publicIp();
    long at = entry.atMillis();
    if (event instanceof ClusterEvent.Granted) {
      return told("grant", isVm ? new GrantEventJson(node, at) : new K8sGrantEventJson(node, at));
    }
    if (event instanceof ClusterEvent.NoticeGiven notice) {
      String reason = notice.reason().label();
      return told(
          "notice",
          isVm
              ? new NoticeEventJson(node, reason, at, notice.endsAt())
              : new K8sNoticeEventJson(node, reason, at, notice.endsAt()));
    }
    if (event instanceof ClusterEvent.NoticeWithdrawn) {
      return told(
          "notice-withdrawn",
          isVm
              ? new NoticeWithdrawnEventJson(node, at)
              : new K8sNoticeWithdrawnEventJson(node, at));
    }
    if (event instanceof ClusterEvent.Released || event instanceof ClusterEvent.Unwound) {
      String reason =
          Objects.requireNonNullElse(event.releaseReason(), Allocation.Reason.UNWOUND.label());
      return told(
          "reclaim",
          isVm
              ? new ReclaimEventJson(node, reason, at)
              : new K8sReclaimEventJson(node, reason, at));
    }
    if (event instanceof ClusterEvent.AlertRaised raised) {
      return told("alert", new AlertEventJson(raised.alert().label(), raised.cause(), at));
    }
    return Optional.empty();
  }

  private static Optional<NodeEvent> told(String name, JsonRecord json) {
    return Optional.of(new NodeEvent(name, json));
  }

  /** Returns its data as a tree. */
  public JsonObject data() {
    return json.toTree();
  }
}
