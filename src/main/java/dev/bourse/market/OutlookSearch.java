package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.Outlook;
import dev.bourse.capacity.Outlook.Cause;
import dev.bourse.capacity.Outlook.ExpectedLoss;
import dev.bourse.capacity.TickPreview;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Computes a cluster's {@link Outlook} by carrying out the ticks at which something changes for it
 * while nobody acts: the next one, those at which the protection or the notice of one of its nodes
 * has ended, and those at which a rival bids again. Pure.
 */
final class OutlookSearch {
  /**
   * Ends of protection that are looked at, because nodes granted one by one have as many. The last
   * is among them, so no loss is missed, but one between them may be shown too late.
   */
  private static final int MOST_ENDS = 32;

  /**
   * Ticks that are carried out. The last of them comes when all protection has ended, and notices
   * that run after it count as losses.
   */
  private static final int MOST_TICKS = 64;

  private static final Comparator<ExpectedLoss> FIRST_TO_GO =
      Comparator.comparing(
          ExpectedLoss::reclaimAtMillis, Comparator.nullsLast(Comparator.naturalOrder()));

  /**
   * A tick with the cluster in one state.
   *
   * @param after the cluster after it, without nodes that it would be granted
   * @param bidsForAll false if the organization's limits or the budget do not allow all nodes that
   *     the cluster declares
   */
  record Step(TickPreview preview, Cluster after, boolean bidsForAll) {}

  /** Computes the tick of a pool at a time. */
  interface Steps {
    Step at(Cluster cluster, long millis);
  }

  /**
   * The ticks of a pool.
   *
   * @param nextMillis when the next is due
   * @param betweenMillis the time between two
   * @param returns when other clusters bid again that rank last or stand back now
   */
  record TickTimes(long nextMillis, long betweenMillis, Collection<Long> returns) {
    /** Returns the first tick at or after a time. */
    private long from(long millis) {
      long after = Math.max(0, millis - nextMillis);
      return nextMillis + (after + betweenMillis - 1) / betweenMillis * betweenMillis;
    }
  }

  private final Cluster cluster;
  private final TickTimes ticks;
  private final long capCents;
  private final Steps steps;

  /** When the declaration ends; null if it has no end. */
  private final @Nullable Long until;

  private final List<ExpectedLoss> losses = new ArrayList<>();

  /** The ticks carried out. */
  private final List<Long> looked = new ArrayList<>();

  /**
   * @param capCents the highest ceiling that the cluster may declare
   */
  OutlookSearch(Cluster cluster, TickTimes ticks, long capCents, Steps steps) {
    this.cluster = cluster;
    this.ticks = ticks;
    this.capCents = capCents;
    this.steps = steps;
    Declaration declared = cluster.declared();
    this.until = declared == null ? null : declared.untilMillis();
  }

  Outlook find() {
    Step next = steps.at(cluster, ticks.nextMillis);
    if (until != null && until <= ticks.nextMillis) {
      loseAllAt(until);
      return new Outlook(
          ticks.nextMillis, next.preview().paused(), List.copyOf(losses), null, 0, null);
    }
    carryOut(next, until == null ? Long.MAX_VALUE : until);
    if (until != null) {
      loseAllAt(until);
    }
    losses.sort(FIRST_TO_GO);
    Long keepCents =
        losses.stream().anyMatch(loss -> loss.by() == Cause.MARKET) ? keepCents() : null;
    int unfilled = next.preview().nodesUnfilled();
    // A node that stays for its notice has no seat either, and is not pending.
    int pending = Math.max(0, unfilled - next.preview().noticed().size());
    return new Outlook(
        ticks.nextMillis,
        next.preview().paused(),
        List.copyOf(losses),
        keepCents,
        pending,
        pending == 0 ? null : pendingCents());
  }

  /** Carries out the ticks before a time, and records their losses. */
  private void carryOut(Step next, long beforeMillis) {
    NavigableSet<Long> due = ends();
    Cluster standing = cluster;
    while (!due.isEmpty() && due.first() < beforeMillis && looked.size() < MOST_TICKS) {
      boolean isLast = looked.size() == MOST_TICKS - 1;
      long tick = isLast ? Objects.requireNonNull(due.lower(beforeMillis)) : due.first();
      due.remove(tick);
      Step step = looked.isEmpty() ? next : steps.at(standing, tick);
      looked.add(tick);
      for (Allocation held : standing.releaseOrder()) {
        String id = held.allocationId();
        OptionalLong noticeEnd = step.preview().noticed().get(id);
        if (step.preview().lost().contains(id)) {
          Allocation.Notice notice = held.notice();
          // The tick at its notice's end may have been skipped.
          long at = notice == null ? tick : Math.min(tick, ticks.from(notice.endsAtMillis()));
          losses.add(new ExpectedLoss(held, Cause.of(step.after(), id), at));
        } else if (noticeEnd != null) {
          // The tick at the end takes the node, or finds a seat for it.
          noticeEnd.ifPresent(end -> due.add(ticks.from(end)));
        }
      }
      standing = step.after();
    }
    for (Allocation held : standing.releaseOrder()) {
      Allocation.Notice notice = held.notice();
      long end = notice == null ? Long.MAX_VALUE : ticks.from(notice.endsAtMillis());
      if (end < beforeMillis) {
        losses.add(new ExpectedLoss(held, Cause.MARKET, end));
      } else if (isTakenOnceActive(next, held)) {
        losses.add(new ExpectedLoss(held, Cause.MARKET, null));
      }
    }
  }

  private static boolean isTakenOnceActive(Step next, Allocation held) {
    OptionalLong noticeEnd = next.preview().noticed().get(held.allocationId());
    return noticeEnd != null && noticeEnd.isEmpty();
  }

  private NavigableSet<Long> ends() {
    TreeSet<Long> ends = new TreeSet<>();
    for (Allocation held : cluster.releaseOrder()) {
      Long protectedUntil = held.protectedUntilMillis();
      if (protectedUntil != null && protectedUntil > ticks.nextMillis) {
        ends.add(ticks.from(protectedUntil));
      }
    }
    while (ends.size() > MOST_ENDS) {
      ends.remove(ends.lower(ends.last()));
    }
    ticks.returns.forEach(millis -> ends.add(ticks.from(millis)));
    ends.add(ticks.nextMillis);
    return ends;
  }

  /**
   * Returns the lowest ceiling at which higher bids take no node at any of the ticks carried out;
   * null if none. With a higher ceiling a cluster never holds fewer nodes.
   */
  private @Nullable Long keepCents() {
    long cents = cluster.ceilingCents();
    for (long tick : looked) {
      if (!keepsAll(cents, tick)) {
        Long higher = lowest(cents, price -> keepsAll(price, tick));
        if (higher == null) {
          return null;
        }
        cents = higher;
      }
    }
    return cents == cluster.ceilingCents() ? null : Long.valueOf(cents);
  }

  private boolean keepsAll(long cents, long tick) {
    Step then = at(cents, tick);
    return then.preview().noticed().values().stream().allMatch(this::isAfterUntil)
        && then.preview().lost().stream()
            .allMatch(id -> Cause.of(then.after(), id) != Cause.MARKET);
  }

  /** Returns true if the declaration's end takes a node before its notice has ended. */
  private boolean isAfterUntil(OptionalLong noticeEnd) {
    return until != null && (noticeEnd.isEmpty() || ticks.from(noticeEnd.getAsLong()) >= until);
  }

  /** Returns the lowest ceiling that wins all nodes at the next tick; null if none. */
  private @Nullable Long pendingCents() {
    // A higher ceiling wins more, until it costs more than the limits allow.
    Long found =
        lowest(
            cluster.ceilingCents(),
            cents -> {
              Step then = at(cents, ticks.nextMillis);
              return then.preview().nodesUnfilled() == 0 || !then.bidsForAll();
            });
    return found != null && at(found, ticks.nextMillis).preview().nodesUnfilled() == 0
        ? found
        : null;
  }

  private Step at(long cents, long tick) {
    return steps.at(cluster.withCeiling(cents, ticks.nextMillis), tick);
  }

  /** Returns the lowest ceiling above another for which a condition holds; null if none. */
  private @Nullable Long lowest(long belowCents, LongPredicate holds) {
    long below = belowCents;
    long above = capCents;
    if (above <= below || !holds.test(above)) {
      return null;
    }
    while (above - below > 1) {
      long middle = below + (above - below) / 2;
      if (holds.test(middle)) {
        above = middle;
      } else {
        below = middle;
      }
    }
    return above;
  }

  /** Records a loss at the declaration's end for each node that is not lost before. */
  private void loseAllAt(long untilMillis) {
    losses.removeIf(
        loss -> loss.reclaimAtMillis() == null || loss.reclaimAtMillis() >= untilMillis);
    Set<String> earlier = new HashSet<>();
    losses.forEach(loss -> earlier.add(loss.node().allocationId()));
    for (Allocation held : cluster.releaseOrder()) {
      if (!earlier.contains(held.allocationId())) {
        losses.add(new ExpectedLoss(held, Cause.UNTIL, untilMillis));
      }
    }
  }
}
