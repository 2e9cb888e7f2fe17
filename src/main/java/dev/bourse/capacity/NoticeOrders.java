package dev.bourse.capacity;

import java.util.List;
import java.util.Map;

/**
 * What a tick decided of one cluster's notices.
 *
 * @param given allocations to give notice, and which
 * @param withdrawn ids of allocations that won a seat again before their notice was over
 */
public record NoticeOrders(Map<String, Allocation.Notice> given, List<String> withdrawn) {
  /** Notices stay as they are. */
  public static final NoticeOrders NONE = new NoticeOrders(Map.of(), List.of());

  /** Whether notices stay as they are. */
  public boolean areNone() {
    return given.isEmpty() && withdrawn.isEmpty();
  }

  /** Only what is active is given notice: what is not is not used yet, or not any more. */
  void carryOut(Cluster.Draft draft, List<Activity> activity) {
    withdrawn.forEach(
        id ->
            draft
                .find(id)
                .filter(a -> a.notice() != null)
                .ifPresent(
                    a -> {
                      draft.put(a.noticed(null));
                      activity.add(
                          new Activity(
                              Activity.MARKET, new ClusterEvent.NoticeWithdrawn(a.publicIp())));
                    }));
    given.forEach(
        (id, notice) ->
            draft
                .find(id)
                .filter(a -> a.state() == Allocation.State.ACTIVE)
                .ifPresent(
                    a -> {
                      draft.put(a.noticed(notice));
                      activity.add(Activity.noticed(a, notice));
                    }));
  }
}
