package dev.bourse.capacity;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Sets single fields of a cluster; operators and billing set several at once. */
public final class DirectChange {
  private DirectChange() {}

  /** Arms or disarms writes of the cluster's declaration. */
  public static Command armWrites(boolean armed) {
    return changing(draft -> draft.writesArmed = armed);
  }

  /** An operator's exceptions from the pool's terms. */
  public static Command override(Overrides overrides) {
    return changing(draft -> draft.overrides = overrides);
  }

  /** Starts or ends maintenance of the cluster. */
  public static Command maintain(boolean maintenance) {
    return changing(draft -> draft.maintenance = maintenance);
  }

  /** Sets the cluster's posture. */
  public static Command posture(Cluster.Posture posture) {
    return changing(draft -> draft.posture = posture);
  }

  /** Places or lifts a billing hold. */
  public static Command hold(@Nullable Hold hold) {
    return changing(draft -> draft.hold = hold);
  }

  /** Returns the cluster as if it had never had notices. */
  public static Cluster withoutNotices(Cluster cluster) {
    return cluster.allocations().stream().allMatch(a -> a.notice() == null)
        ? cluster
        : cluster.withAllocations(
            cluster.allocations().stream().map(a -> a.withNotice(null)).toList());
  }

  /** Returns the cluster as if withdrawn notices did not count. */
  public static Cluster withoutWithdrawnNotices(Cluster cluster) {
    return cluster.allocations().stream()
            .allMatch(a -> a.departure().withdrawnNoticeEndMillis() == null)
        ? cluster
        : cluster.withAllocations(
            cluster.allocations().stream().map(a -> a.withNotice(a.notice())).toList());
  }

  /** Ends a declaration that is due, as the owner does before any command. */
  public static Command lapse() {
    return Lapse::atEnd;
  }

  /** Returns the cluster as if its organization had never given up seats or nodes. */
  public static Cluster neverGaveUp(Cluster cluster) {
    Standing standing = cluster.standing();
    if (standing.gaveUpAtMillis() == null) {
      return cluster;
    }
    Cluster.Draft draft = cluster.draft();
    draft.standing = new Standing(standing.gate(), standing.awaitedSlots(), null);
    return draft.build();
  }

  /** Returns the cluster as if its organization had given up a seat at that time. */
  public static Cluster gaveUp(Cluster cluster, long atMillis) {
    Cluster.Draft draft = cluster.draft();
    draft.standing = cluster.standing().withGiveUp(atMillis);
    return draft.build();
  }

  /** Returns the cluster without the ceilings at which its nodes were seated. */
  public static Cluster withoutSeatCeilings(Cluster cluster) {
    return cluster.allocations().stream().allMatch(a -> a.protection().seatCeilingCents() == null)
        ? cluster
        : cluster.withAllocations(
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

  /** Gives a cluster seats that wait for their nodes. */
  public static Cluster awaiting(Cluster cluster, int slots, long nowMillis) {
    Cluster.Draft draft = cluster.draft();
    Declaration declared = cluster.declared();
    draft.standing =
        new Standing(
            new Standing.Gate(
                cluster.ceilingCents(),
                declared == null ? 0 : declared.pricedAtMillis(),
                nowMillis),
            slots,
            null);
    return draft.build();
  }
}
