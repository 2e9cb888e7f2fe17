package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.auction.Clearing;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Command;
import dev.bourse.capacity.DirectChange;
import dev.bourse.capacity.Standing;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Invariants of notices in a simulated month: no node goes to a rival before its whole notice has
 * run, and a notice changes nothing else.
 */
final class NoticeRules {
  /** The tolerance of {@link NoticeClock} for gradual corrections of a clock. */
  private static final long TOLERANCE_MILLIS = 2_000;

  private static final long DRIFT_PARTS = 500;

  /**
   * A running notice.
   *
   * @param since when it was given, by the monotonic clock
   * @param millis its length in milliseconds
   * @param apart how far the wall clock was ahead of the monotonic clock
   */
  private record Given(long since, long millis, long apart) {}

  private final MonthClocks clocks;
  private final Consumer<String> seen;
  private final Map<String, Given> running = new HashMap<>();

  /** The notice comes from a clock that was set before another process took over the market. */
  private final Set<String> doubted = new HashSet<>();

  NoticeRules(MonthClocks clocks, Consumer<String> seen) {
    this.clocks = clocks;
    this.seen = seen;
  }

  /** Records that the clock was set. */
  void clockSet() {
    if (!running.isEmpty()) {
      seen.accept("clock set while a notice runs");
    }
  }

  /**
   * Records that another process runs the market of a cluster. It knows the cluster's notices by
   * the wall clock alone.
   */
  void takenOver(Cluster cluster) {
    for (Allocation a : cluster.allocations()) {
      Given given = running.get(a.allocationId());
      if (Notices.isUnderNotice(a) && given != null) {
        seen.accept("market taken over while a notice runs");
        if (given.apart != clocks.apart()) {
          doubted.add(a.allocationId());
        }
      }
    }
  }

  /** Checks a change of a cluster. */
  void judge(Cluster before, Cluster after) {
    for (Allocation is : after.allocations()) {
      Allocation was = before.find(is.allocationId()).orElse(null);
      Allocation.Notice told = was == null ? null : was.notice();
      if (Notices.isUnderNotice(is) && told == null) {
        given(before, is);
      } else if (told != null && is.isOpen() && is.notice() == null) {
        seen.accept("notice withdrawn");
        ended(is);
      } else if (was != null && was.isOpen() && !is.isOpen()) {
        goes(was, is, ceiling(after));
      }
    }
  }

  /**
   * Returns the ceiling that the last tick may have read. The tick records it only for clusters
   * that hold nodes.
   */
  private static long ceiling(Cluster cluster) {
    Standing.Gate gate = cluster.standing().gate();
    return gate == null
        ? cluster.ceilingCents()
        : Math.min(gate.ceilingCents(), cluster.ceilingCents());
  }

  /** Returns true if a node lost its seat because its cluster lowered the ceiling. */
  private static boolean isLowered(Allocation held, long ceilingCents) {
    Long seated = held.protection().seatCeilingCents();
    return seated != null && ceilingCents < seated;
  }

  private void given(Cluster before, Allocation is) {
    Allocation.Notice notice = Objects.requireNonNull(is.notice());
    assertEquals(Allocation.State.ACTIVE, is.state(), "only what is active is given notice");
    String replaced = before.find(is.allocationId()).map(Allocation::replaces).orElse(null);
    Given others = replaced == null ? null : running.get(replaced);
    if (others != null) {
      seen.accept("notice taken over by a replacement");
      running.put(is.allocationId(), others);
      if (doubted.contains(replaced)) {
        doubted.add(is.allocationId());
      }
      return;
    }
    seen.accept("notice given");
    running.put(
        is.allocationId(),
        new Given(clocks.monotonic(), notice.endsAtMillis() - clocks.wall(), clocks.apart()));
  }

  private void goes(Allocation was, Allocation is, long ceilingCents) {
    Allocation.Reason reason = Objects.requireNonNull(is.reclaim()).reason();
    if (reason != Allocation.Reason.OUTBID) {
      if (was.notice() != null) {
        seen.accept("notice ended by " + reason.label());
      }
      ended(is);
      return;
    }
    if (isLowered(was, ceilingCents)) {
      seen.accept("seat lost to a lower ceiling of the own");
      ended(is);
      return;
    }
    Allocation.Notice notice = was.notice();
    Given given = running.get(is.allocationId());
    if (notice == null) {
      return; // The judge of ticks checks pools without notices.
    }
    assertNotNull(given, () -> "never told: " + was);
    assertTrue(clocks.wall() >= notice.endsAtMillis(), () -> "sooner than told: " + was);
    long ran = clocks.monotonic() - given.since;
    if (doubted.contains(is.allocationId())) {
      seen.accept("notice over by the wall clock alone");
    } else {
      long least = given.millis - TOLERANCE_MILLIS - given.millis / DRIFT_PARTS;
      assertTrue(ran >= least, () -> ran + " ms of " + given.millis + " have run: " + was);
      if (given.apart != clocks.apart()) {
        seen.accept("notice over though the clock was set");
      }
    }
    seen.accept("notice over");
    ended(is);
  }

  private void ended(Allocation is) {
    running.remove(is.allocationId());
    doubted.remove(is.allocationId());
  }

  /** Checks that a command reclaims the same nodes, for any reason, as without notices. */
  void judge(Cluster before, Command command, Cluster after) {
    if (before.allocations().stream().noneMatch(Notices::isUnderNotice)) {
      return;
    }
    Cluster withoutNotices = DirectChange.withoutNotices(before);
    assertEquals(
        taken(withoutNotices, command.apply(withoutNotices, clocks.wall()).next()),
        taken(before, after),
        "a notice postpones nothing");
  }

  private static Map<String, Allocation.Reclaim> taken(Cluster before, Cluster after) {
    Map<String, Allocation.Reclaim> taken = new HashMap<>();
    for (Allocation a : before.allocations()) {
      Allocation.Reclaim reclaim =
          after.find(a.allocationId()).map(Allocation::reclaim).orElse(null);
      if (a.isOpen() && reclaim != null) {
        taken.put(a.allocationId(), reclaim);
      }
    }
    return taken;
  }

  /**
   * Checks that a tick has the same result as without notices: the same prices, and the same
   * numbers of nodes.
   *
   * @param without the tick of the same clusters without notices
   * @param reserveCents the price of nodes without a seat
   */
  void judge(Tick.Outcome outcome, Tick.Outcome without, long reserveCents) {
    Clearing as = without.clearing();
    Long price = as.clearingCents();
    // If no node would be held otherwise, holders under notice pay the reserve price.
    Long paid = outcome.clearing().clearingCents();
    assertTrue(
        Objects.equals(price, paid) || (price == null && Long.valueOf(reserveCents).equals(paid)),
        () -> "clears at " + paid + ", without notice at " + price);
    assertEquals(as.admissionCents(), outcome.clearing().admissionCents());
    assertEquals(as.grants(), outcome.clearing().grants());
    assertEquals(as.unseated(), outcome.clearing().unseated());
    assertEquals(as.shortfalls(), outcome.clearing().shortfalls());
    assertEquals(without.supply(), outcome.supply());
    assertEquals(without.demand(), outcome.demand());
    assertEquals(without.rivalry(), outcome.rivalry());
    assertEquals(notOutbid(without), notOutbid(outcome), "a notice postpones nothing");
  }

  private static Map<String, Allocation.Reason> notOutbid(Tick.Outcome outcome) {
    Map<String, Allocation.Reason> taken = new HashMap<>();
    for (Tick.ClusterDecision decided : outcome.decided().values()) {
      decided.reclaims().stream()
          .filter(t -> t.reason() != Allocation.Reason.OUTBID)
          .forEach(t -> taken.put(t.allocationId(), t.reason()));
    }
    return taken;
  }

  /**
   * Checks that a pool without notices reclaims nodes without a seat at once, and that a pool with
   * notices gives one for each.
   */
  void judge(Tick.Outcome outcome, long noticeMillis, Iterable<Cluster> clusters) {
    Set<String> passing = new HashSet<>();
    for (Cluster cluster : clusters) {
      Tick.ClusterDecision decided = outcome.decided().get(cluster.name());
      boolean isWithdrawn =
          cluster.allocations().stream()
              .anyMatch(a -> a.notice() == null && Notices.endMillis(a, clocks.wall()) != null);
      if (isWithdrawn || (decided != null && !decided.notices().withdrawn().isEmpty())) {
        passing.add(cluster.orgId());
      }
    }
    for (Cluster cluster : clusters) {
      boolean isPassedOn = passing.contains(cluster.orgId());
      Tick.ClusterDecision decided = outcome.decided().get(cluster.name());
      if (decided == null) {
        continue;
      }
      decided.reclaims().stream()
          .filter(t -> t.reason() == Allocation.Reason.OUTBID)
          .forEach(
              t ->
                  assertTrue(
                      noticeMillis == 0
                          || isPassedOn
                          || cluster
                              .find(t.allocationId())
                              .filter(
                                  a ->
                                      Notices.isUnderNotice(a)
                                          || isLowered(a, cluster.ceilingCents()))
                              .isPresent(),
                      () -> "not told: " + t));
      decided.notices().given().values().stream()
          .map(n -> n.endsAtMillis() - clocks.wall())
          .forEach(
              millis ->
                  assertTrue(
                      isPassedOn ? millis <= noticeMillis : millis == noticeMillis,
                      () -> millis + " ms of " + noticeMillis));
    }
  }
}
