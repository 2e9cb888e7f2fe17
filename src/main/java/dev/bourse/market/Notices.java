package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Allotment.Orders.Taken;
import dev.bourse.capacity.Cluster;
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
 * Turns the auction's word of who has no seat any more into what becomes of the nodes. The auction
 * goes by what is bid and held alone, so prices are what they would be without any notice; whoever
 * loses a seat to a rival is told first, bids on as an incumbent, and loses the node once the
 * notice is over and the seat is still another's. Pure.
 *
 * @param noticeMillis how long before an active node is taken back for a rival its holder is told;
 *     0 for not at all. A notice that was given runs as long as it was given for.
 * @param isOver whether an allocation's notice is over
 */
record Notices(long noticeMillis, Predicate<Allocation> isOver) {
  private static final Comparator<Allocation> OLDEST_NOTICE =
      Comparator.comparingLong(
          a -> {
            Allocation.Notice notice = a.notice();
            return notice == null ? Long.MAX_VALUE : notice.endsAtMillis();
          });

  /** By the wall clock, as told. */
  static Notices at(long noticeMillis, long nowMillis) {
    return new Notices(noticeMillis, allocation -> isPast(allocation, nowMillis));
  }

  /** Whether an allocation's notice is over by the wall clock; without a notice it is. */
  static boolean isPast(Allocation allocation, long nowMillis) {
    Allocation.Notice notice = allocation.notice();
    return notice == null || nowMillis >= notice.endsAtMillis();
  }

  /**
   * What becomes of one cluster's nodes.
   *
   * @param taken those that are taken back now
   * @param orders those that are given notice, and those whose notice is withdrawn
   * @param kept how many have no seat and are held for now all the same
   */
  record Part(List<Taken> taken, NoticeOrders orders, int kept) {}

  /**
   * A cluster's nodes in the order in which the auction takes them: those under notice first, the
   * oldest notice before the others, so that no notice moves from one node to another while as many
   * have to go; then as a shrink would.
   */
  static List<Allocation> takingOrder(Cluster cluster) {
    return cluster.allocations().stream().anyMatch(Notices::isUnderNotice)
        ? cluster.releaseOrderAfter(OLDEST_NOTICE)
        : cluster.releaseOrder();
  }

  /**
   * What becomes of a cluster's nodes.
   *
   * @param losing its nodes without a seat, as the auction has them
   */
  Part part(Cluster cluster, List<Taken> losing, long nowMillis) {
    Map<String, Allocation> held = losing.isEmpty() ? Map.of() : open(cluster);
    List<Taken> taken = new ArrayList<>();
    Map<String, Allocation.Notice> given = new HashMap<>();
    Set<String> losers = new HashSet<>();
    for (Taken loser : losing) {
      losers.add(loser.allocationId());
      Allocation allocation = held.get(loser.allocationId());
      if (allocation == null || isTaken(allocation, loser.reason(), cluster.ceilingCents())) {
        taken.add(loser);
      } else if (allocation.notice() == null && allocation.state() == Allocation.State.ACTIVE) {
        given.put(
            loser.allocationId(), new Allocation.Notice(loser.reason(), nowMillis + noticeMillis));
      }
    }
    return new Part(taken, orders(given, withdrawn(cluster, losers)), losing.size() - taken.size());
  }

  /**
   * Passes notices on within each organization. If the organization wins back the seat of one node
   * and loses the seat of another at the same tick, the other node takes over the notice. Otherwise
   * two clusters that outbid each other in turn would restart the notice each time and keep a rival
   * out for good.
   *
   * @param parts the decision on each cluster's nodes
   * @return the decisions with notices passed on
   */
  Map<String, Part> passOn(List<Cluster> clusters, Map<String, Part> parts) {
    Map<String, List<Allocation>> withdrawn = new HashMap<>();
    for (Cluster cluster : clusters) {
      for (String id : parts.getOrDefault(cluster.name(), NONE).orders().withdrawn()) {
        cluster
            .find(id)
            .ifPresent(
                a -> withdrawn.computeIfAbsent(cluster.orgId(), o -> new ArrayList<>()).add(a));
      }
    }
    if (withdrawn.isEmpty()) {
      return parts;
    }
    withdrawn.values().forEach(list -> list.sort(OLDEST_NOTICE));
    Map<String, Part> passed = new HashMap<>(parts);
    for (Cluster cluster : clusters) {
      List<Allocation> left = withdrawn.getOrDefault(cluster.orgId(), List.of());
      Part part = parts.getOrDefault(cluster.name(), NONE);
      if (!left.isEmpty() && !part.orders().given().isEmpty()) {
        passed.put(cluster.name(), passedOn(part, left));
      }
    }
    return passed;
  }

  /** A decision that changes no node. */
  private static final Part NONE = new Part(List.of(), NoticeOrders.NONE, 0);

  /**
   * @param left nodes whose notices no other node has taken over yet, the oldest notice first;
   *     changed by the call
   */
  private Part passedOn(Part part, List<Allocation> left) {
    List<Taken> taken = new ArrayList<>(part.taken());
    Map<String, Allocation.Notice> given = new HashMap<>();
    int kept = part.kept();
    for (String id : new TreeSet<>(part.orders().given().keySet())) {
      Allocation.Notice own = Objects.requireNonNull(part.orders().given().get(id));
      Allocation former = left.isEmpty() ? null : left.remove(0);
      Allocation.Notice notice = former == null ? null : former.notice();
      if (former != null && isOver.test(former)) {
        taken.add(new Taken(id, own.reason()));
        kept--;
      } else {
        given.put(id, notice == null ? own : notice);
      }
    }
    return new Part(taken, new NoticeOrders(given, part.orders().withdrawn()), kept);
  }

  /**
   * True if the market reclaims a node without a seat now. Only an outbid holder gets notice; a
   * holder that lost the seat by lowering its own ceiling gets none. A provisioning node gets its
   * notice when it becomes active.
   */
  private boolean isTaken(Allocation allocation, Allocation.Reason reason, long ceilingCents) {
    Long seated = allocation.seatCeilingCents();
    return reason != Allocation.Reason.OUTBID
        || (seated != null && ceilingCents < seated)
        || (allocation.notice() == null ? noticeMillis == 0 : isOver.test(allocation));
  }

  private static NoticeOrders orders(Map<String, Allocation.Notice> given, List<String> withdrawn) {
    return given.isEmpty() && withdrawn.isEmpty()
        ? NoticeOrders.NONE
        : new NoticeOrders(given, withdrawn);
  }

  private static List<String> withdrawn(Cluster cluster, Set<String> losers) {
    List<String> withdrawn = new ArrayList<>();
    for (Allocation allocation : cluster.allocations()) {
      if (isUnderNotice(allocation) && !losers.contains(allocation.allocationId())) {
        withdrawn.add(allocation.allocationId());
      }
    }
    return withdrawn;
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

  /** The notice that a pool gives: its own, or the service's. */
  static long millis(@Nullable Long own, long byDefault) {
    return own == null ? byDefault : own;
  }
}
