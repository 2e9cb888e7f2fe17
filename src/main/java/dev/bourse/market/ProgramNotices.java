package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.Drill;
import dev.bourse.nodes.NodeNotice;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Computes the notices for the programs on a cluster's machines from the stored cluster and the
 * time. Pure, so a process that takes over computes the same notices with the same ids.
 */
final class ProgramNotices {
  /**
   * Announces a declaration's end this long before it, but not before the last third of its time. A
   * client that renews its declaration after each third therefore gets no notice.
   */
  static final long ENDING_MILLIS = 300_000;

  /**
   * The lowest sequence. The previous release counted from the number of its lease, which stays
   * below this, so a machine that it told accepts the notices of this release. Programs read
   * sequences from JSON, so they stay below 2^53.
   */
  private static final long FIRST_SEQUENCE = 1L << 50;

  /** The steps between two changes of a cluster, more than {@link #step} returns. */
  private static final int STEPS = 8;

  private ProgramNotices() {}

  /**
   * A notice for a machine.
   *
   * @param sequence orders the notices of an allocation: it rises with the cluster's changes and
   *     with the time, so the machine keeps the newest, whichever process sent it and however late
   *     it arrives
   */
  record Due(NodeNotice notice, long sequence) {}

  /**
   * Returns the notice to deliver to an allocation's machine now; empty if the machine has the
   * notice in force.
   *
   * @param last the last notice on the machine that is not withdrawn; null for none, or if it is
   *     not known
   */
  static Optional<Due> next(
      Cluster cluster, Allocation allocation, @Nullable NodeNotice last, long nowMillis) {
    if (allocation.state() != Allocation.State.ACTIVE) {
      return Optional.empty();
    }
    Optional<NodeNotice> standing = standing(cluster, allocation, last, nowMillis);
    return due(standing, last)
        .map(
            notice ->
                new Due(
                    notice, FIRST_SEQUENCE + cluster.changes() * STEPS + step(standing, notice)));
  }

  /**
   * Orders the notices that are computed from one state at different times: a drill ends, then the
   * end of the declaration is announced. A withdrawal precedes the notice that it makes room for.
   */
  private static int step(Optional<NodeNotice> standing, NodeNotice due) {
    int stage =
        standing.isEmpty() ? 1 : standing.get().isDrill() ? 0 : isLapse(standing.get()) ? 3 : 2;
    return stage * 2 + (due.isWithdrawn() ? 0 : 1);
  }

  private static boolean isLapse(NodeNotice notice) {
    return notice.reason().equals(Allocation.Reason.LAPSED.label());
  }

  /**
   * Returns the notice in force for an allocation, the earliest if there are several. A write moves
   * the time at which a declaration's end is announced, but withdraws no announced end that is
   * still the declaration's end.
   *
   * @param last the last notice on its machine that is not withdrawn; null for none
   */
  static Optional<NodeNotice> standing(
      Cluster cluster, Allocation allocation, @Nullable NodeNotice last, long nowMillis) {
    if (allocation.state() != Allocation.State.ACTIVE) {
      return Optional.empty();
    }
    Allocation.Notice taken = allocation.notice();
    Long end = endMillis(cluster.declared());
    if (end != null
        && nowMillis < announcedMillis(cluster.declared(), end)
        && !lapse(end).equals(last)) {
      end = null;
    }
    if (taken != null && (end == null || taken.endsAtMillis() <= end)) {
      return Optional.of(new NodeNotice(taken.reason().label(), taken.endsAtMillis(), false));
    }
    if (end != null) {
      return Optional.of(lapse(end));
    }
    Drill drill = cluster.drill();
    return drill != null && drill.isRunning(nowMillis) && drill.concerns(allocation)
        ? Optional.of(new NodeNotice(NodeNotice.DRILL, drill.endsAtMillis(), false))
        : Optional.empty();
  }

  /**
   * Returns the notice to deliver to a machine now. A notice replaces another one, but a drill does
   * not, so a notice is withdrawn before the machine gets the notice of a drill that still runs.
   *
   * @param standing the notice in force for its allocation
   * @param last the last notice on the machine that is not withdrawn; null for none, or if it is
   *     not known
   */
  static Optional<NodeNotice> due(Optional<NodeNotice> standing, @Nullable NodeNotice last) {
    boolean outlives = standing.filter(notice -> !notice.isDrill()).isPresent();
    if (last != null && !outlives && !standing.equals(Optional.of(last))) {
      return Optional.of(last.withdrawn());
    }
    return standing.filter(notice -> !notice.equals(last));
  }

  /** Returns the next time at which notices change although the cluster does not. */
  static OptionalLong nextChangeMillis(Cluster cluster, long nowMillis) {
    Long end = endMillis(cluster.declared());
    Drill drill = cluster.drill();
    return LongStream.of(
            end == null ? 0 : announcedMillis(cluster.declared(), end),
            drill == null ? 0 : drill.endsAtMillis())
        .filter(at -> at > nowMillis)
        .min();
  }

  private static NodeNotice lapse(long endMillis) {
    return new NodeNotice(Allocation.Reason.LAPSED.label(), endMillis, false);
  }

  private static @Nullable Long endMillis(@Nullable Declaration declared) {
    return declared == null || declared.maxGpus() == 0 ? null : declared.untilMillis();
  }

  private static long announcedMillis(@Nullable Declaration declared, long endMillis) {
    long whole = declared == null ? 0 : Math.max(0, endMillis - declared.updatedAtMillis());
    return endMillis - Math.min(ENDING_MILLIS, whole / 3);
  }
}
