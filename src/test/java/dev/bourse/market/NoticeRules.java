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
 * What has to hold of notices in a simulated month: no node goes to a rival before its whole notice
 * has run, and a notice changes nothing else.
 */
final class NoticeRules {
  /** What {@link NoticeClock} takes for a clock that is corrected a little at a time. */
  private static final long TOLERANCE_MILLIS = 2_000;

  private static final long DRIFT_PARTS = 500;

  /**
   * A notice that runs.
   *
   * @param since by the clock that nobody sets
   * @param millis for how long it was given
   * @param apart how far the wall clock was ahead of the other
   */
  private record Given(long since, long millis, long apart) {}

  private final MonthClocks clocks;
  private final Consumer<String> seen;
  private final Map<String, Given> running = new HashMap<>();

  /** Given by a clock that was set before another process took the market over. */
  private final Set<String> doubted = new HashSet<>();

  NoticeRules(MonthClocks clocks, Consumer<String> seen) {
    this.clocks = clocks;
    this.seen = seen;
  }

  /** Somebody set the clock. */
  void clockSet() {
    if (!running.isEmpty()) {
      seen.accept("clock set while a notice runs");
    }
  }

  /**
   * Another process runs the market of a cluster: it knows of its notices what the wall clock says.
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

  /** A cluster has become another. */
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

  /** What the last tick may have read: it notes that of clusters alone that hold something. */
  private static long ceiling(Cluster cluster) {
    Standing.Gate gate = cluster.standing().gate();
    return gate == null
        ? cluster.ceilingCents()
        : Math.min(gate.ceilingCents(), cluster.ceilingCents());
  }

  /** Whether a node's seat was lost to a lower ceiling of its own cluster. */
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
      return; // A pool without notice, which the judge of ticks tells.
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

  /** A command takes back, for whatever reason, what it would take back had nobody been told. */
  void judge(Cluster before, Command command, Cluster after) {
    if (before.allocations().stream().noneMatch(Notices::isUnderNotice)) {
      return;
    }
    Cluster untold = DirectChange.withoutNotices(before);
    assertEquals(
        taken(untold, command.apply(untold, clocks.wall()).next()),
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
   * A tick comes to what it comes to when nobody has been told anything and nobody is: the same
   * prices, and as many nodes for whom.
   *
   * @param without the tick of the same clusters without a notice
   * @param reserveCents what is paid by those who have no seat but a node
   */
  void judge(Tick.Outcome outcome, Tick.Outcome without, long reserveCents) {
    Clearing as = without.clearing();
    Long price = as.clearingCents();
    // Where nobody would hold a node any more, whoever is under notice pays the reserve price.
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
    for (Tick.Decided decided : outcome.decided().values()) {
      decided.reclaims().stream()
          .filter(t -> t.reason() != Allocation.Reason.OUTBID)
          .forEach(t -> taken.put(t.allocationId(), t.reason()));
    }
    return taken;
  }

  /** A pool without notice takes at once whoever has no seat; one with notice tells everybody. */
  void judge(Tick.Outcome outcome, long noticeMillis, Iterable<Cluster> clusters) {
    Set<String> passing = new HashSet<>();
    for (Cluster cluster : clusters) {
      Tick.Decided decided = outcome.decided().get(cluster.name());
      boolean isWithdrawn =
          cluster.allocations().stream()
              .anyMatch(a -> a.notice() == null && Notices.endMillis(a, clocks.wall()) != null);
      if (isWithdrawn || (decided != null && !decided.notices().withdrawn().isEmpty())) {
        passing.add(cluster.orgId());
      }
    }
    for (Cluster cluster : clusters) {
      boolean isPassedOn = passing.contains(cluster.orgId());
      Tick.Decided decided = outcome.decided().get(cluster.name());
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
