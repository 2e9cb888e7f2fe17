package dev.bourse.capacity;

import dev.bourse.store.Correction;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Corrects times of a cluster that are in the future because a clock was ahead. Such times would
 * extend protection, keep swaps from lapsing and delay bills. Pure.
 */
final class FutureTimes {
  static final long APART_MILLIS = Correction.APART_MILLIS;

  private final long nowMillis;
  private final long protectionMillis;
  private final boolean isNewest;

  /**
   * @param nowMillis confirmed time
   * @param protectionMillis how long a node is protected after it becomes active
   * @param isNewest true if no later time was confirmed before; otherwise the start of billing is
   *     not moved back, because the holder would be billed for longer
   */
  FutureTimes(long nowMillis, long protectionMillis, boolean isNewest) {
    this.nowMillis = nowMillis;
    this.protectionMillis = protectionMillis;
    this.isNewest = isNewest;
  }

  /** True if the cluster has times in the future. */
  boolean areIn(Cluster cluster) {
    return !corrected(cluster).equals(cluster.allocations())
        || cluster.writes().lastAtMillis() != corrected(cluster.writes().lastAtMillis())
        || !Objects.equals(cluster.declared(), corrected(cluster.declared()))
        || !Objects.equals(cluster.setbacks().gangUnwoundAtMillis(), gangUnwound(cluster))
        || !Objects.equals(cluster.setbacks().joinRefusedAtMillis(), joinRefused(cluster))
        || !Objects.equals(cluster.drill(), corrected(cluster.drill()))
        || !cluster.standing().equals(corrected(cluster.standing()));
  }

  /** Moves them to the present; changes nothing without any. */
  Command correction() {
    return (cluster, wallMillis) -> {
      if (!areIn(cluster)) {
        return Transition.none(cluster);
      }
      Cluster.Draft draft = cluster.draft();
      corrected(cluster).forEach(draft::put);
      draft.lastWriteAtMillis = corrected(cluster.writes().lastAtMillis());
      draft.declared = corrected(cluster.declared());
      draft.gangUnwoundAtMillis = gangUnwound(cluster);
      draft.joinRefusedAtMillis = joinRefused(cluster);
      draft.drill = corrected(cluster.drill());
      draft.standing = corrected(cluster.standing());
      return new Transition(cluster, draft.build(), List.of(), null);
    };
  }

  /** Drops a rank of last whose time is in the future, because a clock that was ahead caused it. */
  private Standing corrected(Standing standing) {
    Standing.Gate gate = standing.gate();
    Long gaveUpAt = standing.gaveUpAtMillis();
    return new Standing(
        gate == null
            ? null
            : new Standing.Gate(
                gate.ceilingCents(), corrected(gate.pricedAtMillis()), corrected(gate.atMillis())),
        standing.awaitedSlots(),
        gaveUpAt == null || gaveUpAt <= nowMillis + APART_MILLIS ? gaveUpAt : null);
  }

  /** Drops a drill in the future, which would otherwise start to run at that time. */
  private @Nullable Drill corrected(@Nullable Drill drill) {
    return drill == null || drill.startedAtMillis() <= nowMillis + APART_MILLIS ? drill : null;
  }

  private @Nullable Long gangUnwound(Cluster cluster) {
    return correctedOrNull(cluster.setbacks().gangUnwoundAtMillis(), 0);
  }

  private @Nullable Long joinRefused(Cluster cluster) {
    return correctedOrNull(cluster.setbacks().joinRefusedAtMillis(), 0);
  }

  private @Nullable Declaration corrected(@Nullable Declaration declared) {
    return declared == null
        ? null
        : declared.with(
            at -> {
              at.ceiling =
                  new Declaration.Ceiling(
                      declared.ceilingCents(),
                      corrected(declared.pricedAtMillis()),
                      effective(declared));
              at.write =
                  new Declaration.LastWrite(
                      corrected(declared.updatedAtMillis()),
                      declared.updatedBy(),
                      declared.write().grantId());
              at.conditions =
                  declared.conditions().with(c -> c.budget = corrected(declared.budget()));
            });
  }

  /**
   * Moves the effective time with its declaration, so that the wait keeps its length. An effective
   * time may be ahead by the longest time between two ticks.
   */
  private @Nullable Long effective(Declaration declared) {
    Long effectiveAt = declared.effectiveAtMillis();
    if (effectiveAt == null || effectiveAt <= nowMillis + APART_MILLIS) {
      return effectiveAt;
    }
    long moved = declared.pricedAtMillis() - corrected(declared.pricedAtMillis());
    return correctedOrNull(
        Math.max(nowMillis, effectiveAt - moved), CapacityConfig.LONGEST_TICK_MILLIS);
  }

  private Conditions.@Nullable Budget corrected(Conditions.@Nullable Budget budget) {
    return budget == null
        ? null
        : new Conditions.Budget(budget.maxSpendCents(), corrected(budget.sinceMillis()));
  }

  private List<Allocation> corrected(Cluster cluster) {
    List<Allocation> corrected = new ArrayList<>();
    for (Allocation a : cluster.allocations()) {
      Allocation.Reclaim reclaim = a.reclaim();
      Allocation.Notice notice = a.notice();
      HeldHealth health = a.health();
      corrected.add(
          a.with(
              at -> {
                at.grantedAtMillis = corrected(at.grantedAtMillis);
                at.activeAtMillis =
                    isNewest ? correctedOrNull(at.activeAtMillis, 0) : at.activeAtMillis;
                at.protectedUntilMillis =
                    correctedOrNull(at.protectedUntilMillis, protectionMillis);
                at.readyAtMillis = correctedOrNull(at.readyAtMillis, 0);
                at.swapRequestedAtMillis = correctedOrNull(at.swapRequestedAtMillis, 0);
                at.reclaim =
                    reclaim == null
                        ? null
                        : new Allocation.Reclaim(reclaim.reason(), corrected(reclaim.atMillis()));
                at.notice = notice == null ? null : corrected(notice);
                at.health =
                    health == null
                        ? null
                        : new HeldHealth(
                            health.state(),
                            corrected(health.sinceMillis()),
                            health.reasons(),
                            health.isCredited());
                at.withdrawnNoticeEndMillis =
                    correctedOrNull(at.withdrawnNoticeEndMillis, Allocation.Notice.LONGEST_MILLIS);
              }));
    }
    return corrected;
  }

  /** Limits a notice by the longest possible one, so that no valid notice becomes shorter. */
  private Allocation.Notice corrected(Allocation.Notice notice) {
    long latest = nowMillis + Allocation.Notice.LONGEST_MILLIS;
    return notice.endsAtMillis() <= latest + APART_MILLIS
        ? notice
        : new Allocation.Notice(notice.reason(), latest);
  }

  private long corrected(long millis) {
    return millis > nowMillis + APART_MILLIS ? nowMillis : millis;
  }

  /**
   * @param most how far in the future the time may be
   */
  private @Nullable Long correctedOrNull(@Nullable Long millis, long most) {
    return millis == null || millis <= nowMillis + most + APART_MILLIS
        ? millis
        : Long.valueOf(nowMillis + most);
  }
}
