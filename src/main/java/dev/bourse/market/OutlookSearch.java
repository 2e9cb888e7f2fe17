package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.Outlook;
import dev.bourse.capacity.TickPreview;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Computes a cluster's {@link Outlook} by carrying out the ticks at which something changes for it
 * while nobody acts: the next one, and those at which the protection or the notice of one of its
 * nodes has ended. Pure.
 *
 * <p>The prices are found by bisection: with a higher ceiling a cluster never holds fewer nodes.
 */
final class OutlookSearch {
  /**
   * Ends of protection that are looked at, because nodes granted one by one have as many. The last
   * is among them, so no loss is missed, but one between them may be shown too late.
   */
  private static final int MOST_ENDS = 16;

  /**
   * A tick with the cluster in one state.
   *
   * @param after the cluster after it, without nodes that it would be granted
   */
  record Step(TickPreview preview, Cluster after) {}

  /** Computes the tick of a pool at a time. */
  interface Steps {
    Step at(Cluster cluster, long millis);
  }

  private final Cluster cluster;
  private final long tickAtMillis;
  private final long capCents;
  private final Steps steps;

  /**
   * @param tickAtMillis when the next tick is due
   * @param capCents the pool's highest ceiling
   */
  OutlookSearch(Cluster cluster, long tickAtMillis, long capCents, Steps steps) {
    this.cluster = cluster;
    this.tickAtMillis = tickAtMillis;
    this.capCents = capCents;
    this.steps = steps;
  }

  Outlook find() {
    TickPreview next = steps.at(cluster, tickAtMillis).preview();
    List<Outlook.Loss> taken = new ArrayList<>();
    Set<Long> takingTicks = new TreeSet<>();
    NavigableSet<Long> due = ends();
    long last = due.last();
    Cluster standing = cluster;
    while (!due.isEmpty()) {
      long tick = due.pollFirst();
      Step step = steps.at(standing, tick);
      for (Allocation held : standing.releaseOrder()) {
        OptionalLong noticeEnd = step.preview().noticed().get(held.allocationId());
        boolean isLost = step.preview().lost().contains(held.allocationId());
        if (isLost) {
          taken.add(new Outlook.Loss(held, Outlook.Loss.By.MARKET, tick));
        } else if (noticeEnd != null && noticeEnd.isPresent()) {
          // A notice whose end has come without a reclaim would come again at each tick.
          noticeEnd.stream().filter(end -> end > tick).forEach(due::add);
        } else if (noticeEnd != null && tick == last) {
          taken.add(new Outlook.Loss(held, Outlook.Loss.By.MARKET, null));
        }
        if ((isLost || noticeEnd != null) && tick <= last) {
          takingTicks.add(tick);
        }
      }
      standing = step.after();
    }
    takingTicks.add(last);
    Long keepCents =
        taken.isEmpty()
            ? null
            : lowest(cents -> takingTicks.stream().allMatch(tick -> keepsAll(cents, tick)));
    Long pendingCents =
        next.nodesUnfilled() == 0
            ? null
            : lowest(cents -> at(cents, tickAtMillis).nodesUnfilled() == 0);
    List<Outlook.Loss> losses = untilEnd(taken);
    boolean isMarketTaking = losses.stream().anyMatch(l -> l.by() == Outlook.Loss.By.MARKET);
    return new Outlook(
        tickAtMillis,
        next.paused(),
        losses,
        isMarketTaking ? keepCents : null,
        next.nodesUnfilled(),
        pendingCents);
  }

  /** Returns the next tick, and the ends of protection and of notices after it. */
  private NavigableSet<Long> ends() {
    TreeSet<Long> ends = new TreeSet<>();
    for (Allocation held : cluster.releaseOrder()) {
      Long protectedUntil = held.protectedUntilMillis();
      if (protectedUntil != null && protectedUntil > tickAtMillis) {
        ends.add(protectedUntil);
      }
    }
    while (ends.size() > MOST_ENDS) {
      ends.remove(ends.lower(ends.last()));
    }
    ends.add(tickAtMillis);
    return ends;
  }

  private TickPreview at(long cents, long tick) {
    return steps.at(cluster.priced(cents, tickAtMillis), tick).preview();
  }

  private boolean keepsAll(long cents, long tick) {
    TickPreview then = at(cents, tick);
    return then.lost().isEmpty() && then.noticed().isEmpty();
  }

  /** Returns the lowest ceiling above the present one for which a condition holds; null if none. */
  private @Nullable Long lowest(LongPredicate holds) {
    long below = cluster.ceilingCents();
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

  /** Adds the nodes that the end of the declaration takes before the market does. */
  private List<Outlook.Loss> untilEnd(List<Outlook.Loss> taken) {
    Declaration declared = cluster.declared();
    Long until = declared == null ? null : declared.untilMillis();
    if (until == null) {
      return List.copyOf(taken);
    }
    List<Outlook.Loss> all = new ArrayList<>(taken);
    all.removeIf(loss -> loss.reclaimAtMillis() == null || loss.reclaimAtMillis() >= until);
    Set<String> earlier = new HashSet<>();
    all.forEach(loss -> earlier.add(loss.node().allocationId()));
    for (Allocation held : cluster.releaseOrder()) {
      if (!earlier.contains(held.allocationId())) {
        all.add(new Outlook.Loss(held, Outlook.Loss.By.UNTIL, until));
      }
    }
    return List.copyOf(all);
  }
}
