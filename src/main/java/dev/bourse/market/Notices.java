package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.MarketTransitions.Orders.Taken;
import dev.bourse.capacity.NoticeOrders;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Decides about the nodes that the auction leaves without a seat. The auction reads bids and held
 * nodes alone, so notices do not affect prices. A holder that loses a seat to a rival gets a
 * notice, bids on as an incumbent, and loses the node if a rival still has the seat when the notice
 * ends. Pure.
 *
 * <p>A withdrawn notice counts for an hour after its end, against a bid that is older than the
 * notice and waits for a node: if the node loses its seat again, the new notice ends at the end of
 * the earlier one. Otherwise holders that outbid each other in turn, or a bid that comes and goes,
 * would restart notices and keep that bid waiting for good. Against newer bids it does not count,
 * so that a holder that paid more to keep a node gets a whole notice of the next rival.
 *
 * @param noticeMillis the time between a notice of preemption and the reclaim of an active node, in
 *     milliseconds; 0 for no notices. It does not change notices that were given before.
 * @param isOver true for an allocation whose notice is over, or whose withdrawn notice counts and
 *     is over
 * @param oldestWaitingMillis when the oldest bid was declared that has won a seat and waits for a
 *     node; {@code MAX_VALUE} if none waits
 */
record Notices(long noticeMillis, Predicate<Allocation> isOver, long oldestWaitingMillis) {
  /**
   * How long a withdrawn notice counts after its end. Organizations that outbid each other in turn
   * keep a rival out for one notice each. With the default notice it takes more than thirty of them
   * to keep it out for longer than this.
   */
  private static final long COUNTS_MILLIS = 3_600_000;

  private static final Comparator<Allocation> OLDEST_NOTICE =
      Comparator.comparingLong(
          a -> {
            Allocation.Notice notice = a.notice();
            return notice == null ? Long.MAX_VALUE : notice.endsAtMillis();
          });

  Notices(long noticeMillis, Predicate<Allocation> isOver) {
    this(noticeMillis, isOver, Long.MAX_VALUE);
  }

  /** Returns the same rules against the oldest waiting bid. */
  Notices against(long oldestMillis) {
    return new Notices(noticeMillis, isOver, oldestMillis);
  }

  /** Creates rules that read the wall clock alone. */
  static Notices at(long noticeMillis, long nowMillis) {
    return new Notices(noticeMillis, allocation -> isPast(allocation, nowMillis));
  }

  /**
   * Returns true if an allocation's notice, or a withdrawn one that counts, is over by the wall
   * clock.
   */
  private static boolean isPast(Allocation allocation, long nowMillis) {
    Long end = endMillis(allocation, nowMillis);
    return end != null && nowMillis >= end;
  }

  /**
   * Returns when an allocation's notice ends, or would have ended if it was withdrawn and still
   * counts; null if there is neither.
   */
  static @Nullable Long endMillis(Allocation allocation, long nowMillis) {
    Allocation.Notice notice = allocation.notice();
    Long withdrawn = allocation.departure().withdrawnNoticeEndMillis();
    return notice != null
        ? Long.valueOf(notice.endsAtMillis())
        : withdrawn != null && nowMillis < withdrawn + COUNTS_MILLIS ? withdrawn : null;
  }

  /** Returns the {@link #endMillis} that counts against the waiting bids. */
  private @Nullable Long countingEnd(Allocation allocation, long nowMillis) {
    Long end = endMillis(allocation, nowMillis);
    return end != null && (allocation.notice() != null || oldestWaitingMillis <= end - noticeMillis)
        ? end
        : null;
  }

  /**
   * The decision about one cluster's nodes.
   *
   * @param taken nodes to reclaim now
   * @param orders notices to give and to withdraw
   * @param kept the number of nodes without a seat that are still held
   * @param passing nodes with a seat and a withdrawn notice, which another node may take over
   */
  record Part(List<Taken> taken, NoticeOrders orders, int kept, List<Allocation> passing) {
    private Part forgetting(Set<String> ids) {
      List<String> forgotten =
          passing.stream().map(Allocation::allocationId).filter(ids::contains).toList();
      return forgotten.isEmpty()
          ? this
          : new Part(
              taken,
              new NoticeOrders(orders.given(), orders.withdrawn(), forgotten),
              kept,
              passing);
    }
  }

  /**
   * Returns a cluster's nodes in the order in which the auction takes them: nodes under notice
   * first, the oldest notice before the others, so that notices stay on the same nodes while their
   * number does not change; then in the order of a shrink.
   */
  static List<Allocation> takingOrder(Cluster cluster) {
    return cluster.allocations().stream().anyMatch(Notices::isUnderNotice)
        ? cluster.releaseOrderAfter(OLDEST_NOTICE)
        : cluster.releaseOrder();
  }

  /**
   * Decides about a cluster's nodes.
   *
   * @param losing the nodes that the auction leaves without a seat
   */
  Part part(Cluster cluster, List<Taken> losing, long nowMillis) {
    Map<String, Allocation> held = losing.isEmpty() ? Map.of() : open(cluster);
    List<Taken> taken = new ArrayList<>();
    Map<String, Allocation.Notice> given = new HashMap<>();
    Set<String> losers = new HashSet<>();
    for (Taken loser : losing) {
      losers.add(loser.allocationId());
      Allocation allocation = held.get(loser.allocationId());
      if (allocation == null
          || isTaken(allocation, loser.reason(), cluster.ceilingCents(), nowMillis)) {
        taken.add(loser);
      } else if (allocation.notice() == null && allocation.state() == Allocation.State.ACTIVE) {
        given.put(loser.allocationId(), notice(loser.reason(), allocation, nowMillis));
      }
    }
    List<Allocation> passing = passing(cluster, losers, nowMillis);
    return new Part(
        taken, orders(given, withdrawn(passing)), losing.size() - taken.size(), passing);
  }

  /** Returns a new notice, which ends no later than a withdrawn one of this node. */
  private Allocation.Notice notice(Allocation.Reason reason, Allocation node, long nowMillis) {
    Long end = countingEnd(node, nowMillis);
    long latest = nowMillis + noticeMillis;
    return new Allocation.Notice(reason, end == null ? latest : Math.min(latest, end));
  }

  /**
   * Withdraws a cluster's notices while the market is paused. They do not count after the pause, so
   * that a holder that loses the seat then gets a whole notice.
   */
  static Part paused(Cluster cluster, long nowMillis) {
    List<Allocation> all =
        cluster.allocations().stream().filter(a -> endMillis(a, nowMillis) != null).toList();
    List<String> ids = all.stream().map(Allocation::allocationId).toList();
    return ids.isEmpty()
        ? NONE
        : new Part(List.of(), new NoticeOrders(Map.of(), withdrawn(all), ids), 0, List.of());
  }

  /**
   * Passes withdrawn notices on within each organization. A node that loses its seat, and has no
   * withdrawn notice itself, takes over the oldest one of the nodes that keep their seats.
   * Otherwise the organization could keep a rival out for one notice for each of its nodes.
   *
   * @param parts the decision on each cluster's nodes
   * @return the decisions with notices passed on
   */
  Map<String, Part> passOn(List<Cluster> clusters, Map<String, Part> parts, long nowMillis) {
    Map<String, List<Allocation>> passing = new HashMap<>();
    for (Cluster cluster : clusters) {
      List<Allocation> own = parts.getOrDefault(cluster.name(), NONE).passing();
      if (!own.isEmpty()) {
        passing.computeIfAbsent(cluster.orgId(), org -> new ArrayList<>()).addAll(own);
      }
    }
    if (passing.isEmpty()) {
      return parts;
    }
    Comparator<Allocation> oldest =
        Comparator.comparingLong(a -> Objects.requireNonNull(endMillis(a, nowMillis)));
    passing.values().forEach(list -> list.sort(oldest));
    Set<String> takenOver = new HashSet<>();
    Map<String, Part> passed = new HashMap<>();
    for (Cluster cluster : clusters) {
      List<Allocation> left = passing.getOrDefault(cluster.orgId(), List.of());
      Part part = parts.getOrDefault(cluster.name(), NONE);
      if (!left.isEmpty() && !part.orders().given().isEmpty()) {
        passed.put(cluster.name(), passedOn(cluster, part, left, takenOver, nowMillis));
      }
    }
    if (takenOver.isEmpty()) {
      return parts;
    }
    Map<String, Part> all = new HashMap<>(parts);
    all.putAll(passed);
    all.replaceAll((name, part) -> part.forgetting(takenOver));
    return all;
  }

  /** A decision that changes no node. */
  private static final Part NONE = new Part(List.of(), NoticeOrders.NONE, 0, List.of());

  /**
   * @param left nodes whose withdrawn notices no other node has taken over yet, the oldest notice
   *     first; changed by the call
   * @param takenOver receives the ids of the nodes whose notices another node takes over
   */
  private Part passedOn(
      Cluster cluster, Part part, List<Allocation> left, Set<String> takenOver, long nowMillis) {
    List<Taken> taken = new ArrayList<>(part.taken());
    Map<String, Allocation.Notice> given = new HashMap<>(part.orders().given());
    int kept = part.kept();
    for (String id : new TreeSet<>(part.orders().given().keySet())) {
      boolean hasOwn = cluster.find(id).filter(a -> countingEnd(a, nowMillis) != null).isPresent();
      if (hasOwn || left.isEmpty()) {
        continue;
      }
      Allocation former = left.remove(0);
      takenOver.add(former.allocationId());
      Allocation.Reason reason = Objects.requireNonNull(given.remove(id)).reason();
      if (isOver.test(former)) {
        taken.add(new Taken(id, reason));
        kept--;
      } else {
        given.put(id, notice(reason, former, nowMillis));
      }
    }
    return new Part(taken, orders(given, part.orders().withdrawn()), kept, part.passing());
  }

  /**
   * Returns true if the market reclaims a node without a seat now. Only an outbid holder gets
   * notice; a holder that lost the seat by lowering its own ceiling gets none. A provisioning node
   * gets its notice when it becomes active.
   */
  private boolean isTaken(
      Allocation allocation, Allocation.Reason reason, long ceilingCents, long nowMillis) {
    Long seated = allocation.protection().seatCeilingCents();
    return reason != Allocation.Reason.OUTBID
        || (seated != null && ceilingCents < seated)
        || (allocation.notice() == null && noticeMillis == 0)
        || (countingEnd(allocation, nowMillis) != null && isOver.test(allocation));
  }

  private static NoticeOrders orders(Map<String, Allocation.Notice> given, List<String> withdrawn) {
    return given.isEmpty() && withdrawn.isEmpty()
        ? NoticeOrders.NONE
        : new NoticeOrders(given, withdrawn, List.of());
  }

  /** Returns the nodes with a seat that are under notice, or have a withdrawn one that counts. */
  private List<Allocation> passing(Cluster cluster, Set<String> losers, long nowMillis) {
    List<Allocation> passing = new ArrayList<>();
    for (Allocation allocation : cluster.allocations()) {
      if (countingEnd(allocation, nowMillis) != null
          && !losers.contains(allocation.allocationId())) {
        passing.add(allocation);
      }
    }
    return passing;
  }

  private static List<String> withdrawn(List<Allocation> seated) {
    return seated.stream().filter(Notices::isUnderNotice).map(Allocation::allocationId).toList();
  }

  static boolean isUnderNotice(Allocation allocation) {
    return allocation.isOpen() && allocation.notice() != null;
  }

  private static Map<String, Allocation> open(Cluster cluster) {
    Map<String, Allocation> open = new HashMap<>();
    for (Allocation allocation : cluster.allocations()) {
      if (allocation.isOpen()) {
        open.put(allocation.allocationId(), allocation);
      }
    }
    return open;
  }

  /** Returns the length of a pool's notices: its own, or the service's default. */
  static long millis(@Nullable Long own, long byDefault) {
    return own == null ? byDefault : own;
  }
}
