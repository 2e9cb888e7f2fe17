package dev.bourse.capacity;

import java.util.List;
import java.util.Map;

/**
 * What a tick decided of one cluster's notices.
 *
 * @param given allocations to give notice, and which
 * @param withdrawn ids of allocations that won a seat again before their notice was over
 * @param forgotten ids of allocations whose withdrawn notice does not count for the next one,
 *     because another node took it over or the market is paused
 */
public record NoticeOrders(
    Map<String, Allocation.Notice> given, List<String> withdrawn, List<String> forgotten) {
  /** Notices stay as they are. */
  public static final NoticeOrders NONE = new NoticeOrders(Map.of(), List.of(), List.of());

  /** Whether notices stay as they are. */
  public boolean areNone() {
    return given.isEmpty() && withdrawn.isEmpty() && forgotten.isEmpty();
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
                      draft.put(a.noticeWithdrawn());
                      activity.add(
                          new Activity(
                              Activity.MARKET, new ClusterEvent.NoticeWithdrawn(a.publicIp())));
                    }));
    forgotten.forEach(id -> draft.find(id).ifPresent(a -> draft.put(a.noticed(null))));
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
