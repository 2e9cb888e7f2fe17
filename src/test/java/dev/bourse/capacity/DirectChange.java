package dev.bourse.capacity;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Sets one thing of a cluster, as operators and billing do it together with others. */
public final class DirectChange {
  private DirectChange() {}

  /** Whether the cluster's declaration can be written. */
  public static Command armWrites(boolean armed) {
    return changing(draft -> draft.writesArmed = armed);
  }

  /** Whether an operator is working on the cluster. */
  public static Command maintain(boolean maintenance) {
    return changing(draft -> draft.maintenance = maintenance);
  }

  /** Who decides how much the cluster holds. */
  public static Command posture(Cluster.Posture posture) {
    return changing(draft -> draft.posture = posture);
  }

  /** Puts a billing hold in force, or lifts it. */
  public static Command hold(@Nullable Hold hold) {
    return changing(draft -> draft.hold = hold);
  }

  /** As a cluster would be had nobody been given notice. */
  public static Cluster withoutNotices(Cluster cluster) {
    return cluster.allocations().stream().allMatch(a -> a.notice() == null)
        ? cluster
        : cluster.holding(cluster.allocations().stream().map(a -> a.noticed(null)).toList());
  }

  /** The cluster as it would be if withdrawn notices did not count. */
  public static Cluster withoutWithdrawnNotices(Cluster cluster) {
    return cluster.allocations().stream()
            .allMatch(a -> a.departure().withdrawnNoticeEndMillis() == null)
        ? cluster
        : cluster.holding(cluster.allocations().stream().map(a -> a.noticed(a.notice())).toList());
  }

  /** Ends a declaration at its time, as its owner does before any command once that has come. */
  public static Command lapse() {
    return Lapse::atEnd;
  }

  /** The cluster as it would be if its organization had never given anything up. */
  public static Cluster neverGaveUp(Cluster cluster) {
    Standing standing = cluster.standing();
    if (standing.gaveUpAtMillis() == null) {
      return cluster;
    }
    Cluster.Draft draft = cluster.draft();
    draft.standing = new Standing(standing.gate(), standing.awaitedSlots(), null);
    return draft.build();
  }

  /** The cluster without the ceilings at which its nodes were seated. */
  public static Cluster withoutSeatCeilings(Cluster cluster) {
    return cluster.allocations().stream().allMatch(a -> a.protection().seatCeilingCents() == null)
        ? cluster
        : cluster.holding(
            cluster.allocations().stream()
                .map(a -> a.with(draft -> draft.seatCeilingCents = null))
                .toList());
  }

  private static Command changing(Consumer<Cluster.Draft> change) {
    return (cluster, now) -> {
      Cluster.Draft draft = cluster.draft();
      change.accept(draft);
      return new Transition(cluster, draft.build(), List.of(), null);
    };
  }
}
