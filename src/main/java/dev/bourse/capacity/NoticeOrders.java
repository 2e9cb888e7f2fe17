package dev.bourse.capacity;

import java.util.List;
import java.util.Map;

/**
 * A tick's decision on one cluster's notices.
 *
 * @param given the notices to give, by allocation
 * @param withdrawn ids of allocations that won a seat again before their notice ended
 * @param forgotten ids of allocations whose withdrawn notice does not count for the next one,
 *     because another node took it over or the market is paused
 */
public record NoticeOrders(
    Map<String, Allocation.Notice> given, List<String> withdrawn, List<String> forgotten) {
  /** All notices stay as they are. */
  public static final NoticeOrders NONE = new NoticeOrders(Map.of(), List.of(), List.of());

  /** True if all notices stay as they are. */
  public boolean areNone() {
    return given.isEmpty() && withdrawn.isEmpty() && forgotten.isEmpty();
  }

  /** Applies the decision. Only active allocations get notice, because no others are in use. */
  void carryOut(Cluster.Draft draft, List<Activity> activity) {
    withdrawn.forEach(
        id ->
            draft
                .find(id)
                .filter(a -> a.notice() != null)
                .ifPresent(
                    a -> {
                      draft.put(a.withdrawNotice());
                      activity.add(Activity.of(a, new ClusterEvent.NoticeWithdrawn(a.publicIp())));
                    }));
    forgotten.forEach(id -> draft.find(id).ifPresent(a -> draft.put(a.withNotice(null))));
    given.forEach(
        (id, notice) ->
            draft
                .find(id)
                .filter(a -> a.state() == Allocation.State.ACTIVE)
                .ifPresent(
                    a -> {
                      draft.put(a.withNotice(notice));
                      activity.add(Activity.noticed(a, notice));
                    }));
  }
}
