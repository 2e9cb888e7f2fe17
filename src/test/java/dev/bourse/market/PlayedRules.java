package dev.bourse.market;

import dev.bourse.billing.Usage;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.MarketTransitions;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.Standing;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Judges a {@link PlayedMarket} at every tick, and computes the result of its day. */
final class PlayedRules {
  private static final int GPUS = PlayedMarket.GPUS;

  /** One tick in this number is decided again without a bidder, which costs as much as the tick. */
  private static final int REPEATED_ONE_IN = 5;

  private final PlayedMarket market;
  private final Map<String, String> violations = new TreeMap<>();

  /** Clusters that wait for a node that they outbid. */
  private final Map<String, Wait> waits = new HashMap<>();

  /**
   * A cluster's wait.
   *
   * @param since when it began, or when an honest rival's higher bid came before it
   * @param claims nodes that were due to honest rivals before it
   * @param noticed organizations that were under notice during the wait
   */
  private record Wait(long since, int claims, Set<String> noticed) {}

  /** Allocations by the last tick. */
  private Set<String> seenGrants = new HashSet<>();

  /** The highest ceiling that was granted a node since the last tick. */
  private long highestGranted;

  /** Ticks at which rivals want nodes, and ticks at which the player keeps a node at no cost. */
  private final BitSet wanted = new BitSet();

  private final BitSet kept = new BitSet();

  /** The rivals' bids, one for each node, the highest first, by their start. */
  private final TreeMap<Long, List<Long>> bids = new TreeMap<>();

  private int judged;

  PlayedRules(PlayedMarket market) {
    this.market = market;
  }

  private void violate(String rule, String what) {
    violations.putIfAbsent(
        rule, what + " at " + (market.now() - PlayedMarket.START) / 1_000 + " s");
  }

  /** Judges the decision of a tick. */
  void judge(Tick.Outcome outcome, List<Cluster> seen, Tick.Nodes machines) {
    List<Long> units = new ArrayList<>();
    for (Cluster c : seen) {
      if (!PlayedMarket.isPlayers(c)) {
        for (int i = 0; i < c.declaredSlots(GPUS); i++) {
          units.add(c.ceilingCents());
        }
      }
    }
    units.sort(Collections.reverseOrder());
    if (bids.isEmpty() || !bids.lastEntry().getValue().equals(units)) {
      bids.put(market.now(), units);
    }
    if (judged++ % REPEATED_ONE_IN == 0) {
      judgePrice(outcome, seen, machines);
    }
  }

  /** Checks that a bidder's price is a bid that would get a seat without the bidder. */
  private void judgePrice(Tick.Outcome outcome, List<Cluster> seen, Tick.Nodes machines) {
    for (int n = 0; n < seen.size(); n++) {
      Cluster bidder = seen.get((n + judged / REPEATED_ONE_IN) % seen.size());
      Long cents = Objects.requireNonNull(market.books.get(bidder.name())).priceCents();
      // Without a seat, the bidder pays at most its ceiling, which is less than its successor pays.
      if (PlayedMarket.isPlayers(bidder)
          || !isSeated(bidder, outcome)
          || cents == null
          || cents <= market.pool.reserveCents()) {
        continue;
      }
      List<Cluster> others = others(bidder, seen);
      Tick.Outcome without = market.tickOf(others).decide(machines);
      boolean isSet = others.stream().anyMatch(c -> sets(c, cents, outcome, without));
      if (!isSet) {
        violate(
            "price", bidder.name() + " pays " + cents + ", which no bid sets that would be seated");
      }
      return;
    }
  }

  /**
   * Returns the clusters without the bidder's organization. An organization ranks last only while
   * another one waits, and a price goes by the ranks of its tick; so if the bidder waits, a cluster
   * waits in its place that bids the reserve price and outbids nobody.
   */
  private List<Cluster> others(Cluster bidder, List<Cluster> seen) {
    List<Cluster> others = new ArrayList<>();
    boolean waits = false;
    for (Cluster c : seen) {
      if (!c.orgId().equals(bidder.orgId())) {
        others.add(c);
      } else {
        waits |= SpendingAllowance.buys(c, GPUS);
      }
    }
    if (waits) {
      String reserve = BigDecimal.valueOf(market.pool.reserveCents(), 2).toPlainString();
      others.add(Sample.bidder("waiting", "waiting", reserve, GPUS, 1, market.now()));
    }
    return others;
  }

  private static boolean isSeated(Cluster bidder, Tick.Outcome outcome) {
    long losing =
        outcome.clearing().reclaims().stream()
            .filter(r -> r.cluster().equals(bidder.name()))
            .count();
    return bidder.filledSlots() > losing;
  }

  private static boolean sets(
      Cluster other, long cents, Tick.Outcome outcome, Tick.Outcome without) {
    return other.ceilingCents() == cents
        && outcome.clearing().unseated().getOrDefault(other.name(), 0)
            > without.clearing().unseated().getOrDefault(other.name(), 0);
  }

  /** Checks that orders were carried out. */
  void judge(Cluster before, MarketTransitions.Orders orders, Cluster after) {
    for (MarketTransitions.Orders.Taken taken : orders.reclaims()) {
      boolean isHeld =
          after.find(taken.allocationId()).filter(Allocation::isOpen).isPresent()
              && before.find(taken.allocationId()).filter(Allocation::isOpen).isPresent();
      boolean isDue =
          taken.reason() != Allocation.Reason.UNWOUND && after.filledSlots() > orders.seats();
      if (isHeld && isDue) {
        violate("order", after.name() + " keeps a node that was taken back");
      }
    }
    orders
        .notices()
        .given()
        .keySet()
        .forEach(
            id -> {
              boolean isUntold =
                  after.find(id).filter(a -> a.isOpen() && a.notice() == null).isPresent();
              if (isUntold) {
                violate("order", after.name() + " has no notice of a node it was given one for");
              }
            });
  }

  /** Records that a reclaimed machine is clean. */
  void cleaned(Cluster cluster, Allocation a) {
    Allocation last =
        Objects.requireNonNull(market.books.get(cluster.name())).allocations.get(a.allocationId());
    if (last != null && last.activeAtMillis() == null && PlayedMarket.isPlayers(cluster)) {
      kept.set(tickOf(last.grantedAtMillis()), market.ticks() + 1);
    }
  }

  private int tickOf(long millis) {
    return Math.toIntExact((millis - PlayedMarket.START) / market.world.tickMillis());
  }

  /** Judges the market in the state after the last tick. */
  void judgeStanding() {
    Map<String, Cluster> holders = new HashMap<>();
    Map<String, Allocation> held = new HashMap<>();
    for (Cluster c : market.clusters.values()) {
      boolean isActive = false;
      for (Allocation a : c.allocations()) {
        holders.put(a.nodeId(), c);
        held.put(a.nodeId(), a);
        isActive |= a.state() == Allocation.State.ACTIVE;
      }
      PlayedBooks book = market.books.get(c.name());
      judgeLock(c, book);
      if (isActive && (book == null || book.priceCents() == null)) {
        violate("billed", c.name() + " has active nodes and no price");
      }
    }
    noteGrants();
    for (Cluster c : market.clusters.values()) {
      if (PlayedMarket.isPlayers(c)) {
        judgeKept(c, held);
      } else {
        judgeWait(c, holders, held);
      }
    }
  }

  /** Checks that a protected node costs no more than at its grant. */
  private void judgeLock(Cluster c, @Nullable PlayedBooks book) {
    Long cents = book == null ? null : book.priceCents();
    for (Allocation a : c.allocations()) {
      Long locked = a.protection().grantPriceCents();
      Long until = a.protectedUntilMillis();
      boolean isProtected =
          a.state() == Allocation.State.ACTIVE && until != null && market.now() < until;
      if (isProtected
          && cents != null
          && locked != null
          && !market.has(PlayedMarket.Fix.PRICE_LOCK)
          && Math.min(cents, limit(c)) > locked) {
        violate("lock", c.name() + " pays more for a protected node than " + locked);
      }
    }
  }

  private void noteGrants() {
    Set<String> grants = new HashSet<>();
    highestGranted = -1;
    for (Cluster c : market.clusters.values()) {
      for (Allocation a : c.allocations()) {
        grants.add(a.allocationId());
        if (!seenGrants.contains(a.allocationId())) {
          highestGranted = Math.max(highestGranted, limit(c));
        }
      }
    }
    seenGrants = grants;
  }

  private void judgeKept(Cluster c, Map<String, Allocation> held) {
    long free =
        market.nodes.keySet().stream()
            .filter(node -> !held.containsKey(node) && !market.isSilent(node))
            .count();
    boolean isIdle = c.standing().awaitedSlots() > 0 && free > gatheredBefore(c);
    for (Allocation a : c.allocations()) {
      isIdle |=
          a.state() == Allocation.State.PROVISIONING
              && market.now()
                  > a.grantedAtMillis() + PlayedMarket.PROVISION + 2 * market.world.tickMillis();
    }
    if (isIdle) {
      kept.set(market.ticks());
    }
  }

  /**
   * Returns the nodes that are kept for the minimums of honest bids that rank before the player's.
   */
  private int gatheredBefore(Cluster c) {
    int gathered = 0;
    for (Cluster other : market.clusters.values()) {
      if (!PlayedMarket.isPlayers(other) && isShort(other) && limit(other) >= limit(c)) {
        gathered += other.standing().awaitedSlots();
      }
    }
    return gathered;
  }

  private boolean isShort(Cluster c) {
    int minimum = c.minimumSlots(GPUS);
    return minimum > 1 && active(c) < minimum;
  }

  private static int active(Cluster c) {
    int active = 0;
    for (Allocation a : c.allocations()) {
      active += a.state() == Allocation.State.ACTIVE && a.fillsSlot() ? 1 : 0;
    }
    return active;
  }

  private int lack(Cluster c) {
    return Math.max(0, c.declaredSlots(GPUS) - (isShort(c) ? active(c) : c.filledSlots()));
  }

  private void judgeWait(Cluster c, Map<String, Cluster> holders, Map<String, Allocation> held) {
    int lack = lack(c);
    if (lack > 0 && !isShort(c)) {
      wanted.set(market.ticks());
    }
    // A bid that ranks no higher than this one got a node.
    boolean isServed = !isShort(c) && highestGranted >= limit(c);
    int needed = isShort(c) ? c.minimumSlots(GPUS) : 1;
    if (lack == 0 || isServed || available(c, holders, held) - claims(c, other -> true) < needed) {
      waits.remove(c.name());
      return;
    }
    int honest = claims(c, other -> !PlayedMarket.isPlayers(other));
    Wait wait =
        waits.merge(
            c.name(),
            new Wait(market.now(), honest, new HashSet<>()),
            (was, is) -> is.claims() > was.claims() ? is : was);
    wait.noticed().addAll(noticed());
    long since = wait.since();
    // The outbid bids may lose their protection or outbid each other in turn; each organization
    // gets one notice.
    long bound =
        market.world.noticeMillis() * Math.max(1, wait.noticed().size())
            + PlayedMarket.WIPE
            + 2 * market.world.tickMillis()
            + (isShort(c) ? PlayedMarket.PROVISION + market.world.tickMillis() : 0);
    if (market.now() - since > bound) {
      violate("wait", c.name() + " waits longer than " + bound / 1_000 + " s for a node");
    }
  }

  /**
   * Returns the number of nodes that are free, come back, or are held by bids that the cluster
   * outbids.
   */
  private int available(Cluster c, Map<String, Cluster> holders, Map<String, Allocation> held) {
    int available = 0;
    for (String node : market.nodes.keySet()) {
      Allocation a = held.get(node);
      Cluster holder = holders.get(node);
      if (market.isSilent(node)) {
        continue;
      }
      boolean isOwn = holder != null && holder.name().equals(c.name());
      available +=
          a == null || holder == null || !a.isOpen()
              ? 1
              : isOwn
                  ? isShort(c) ? 1 : 0
                  : limit(holder) < limit(c) && !a.isShielded(market.now(), limit(holder)) ? 1 : 0;
    }
    return available;
  }

  /** Returns the organizations with a node under notice. */
  private Set<String> noticed() {
    Set<String> noticed = new HashSet<>();
    for (Cluster c : market.clusters.values()) {
      if (c.allocations().stream().anyMatch(Notices::isUnderNotice)) {
        noticed.add(c.orgId());
      }
    }
    return noticed;
  }

  /** Returns the number of nodes that are due to the given others before this cluster. */
  private int claims(Cluster c, Predicate<Cluster> others) {
    int claims = 0;
    for (Cluster other : market.clusters.values()) {
      boolean isAhead =
          others.test(other)
              && !other.name().equals(c.name())
              && limit(other) >= limit(c)
              && !(market.has(PlayedMarket.Fix.RANK_LAST)
                  && other.standing().ranksLast(market.now()))
              && (!isShort(other) || other.standing().awaitedSlots() > 0);
      claims += isAhead ? lack(other) : 0;
    }
    return claims;
  }

  private long limit(Cluster c) {
    PlayedBooks book = market.books.get(c.name());
    return book == null ? 0 : book.limitCents();
  }

  /** Returns the result of the day. */
  PlayedResult result() {
    long end = market.end();
    double cents = 0;
    List<Usage.Held> nodes = new ArrayList<>();
    for (PlayedBooks book : market.books.values()) {
      List<Usage.Held> held = book.held(market.has(PlayedMarket.Fix.PRICE_LOCK));
      Usage.Timeline timeline =
          new Usage.Timeline(book.cluster, held, book.prices, market.ceilings(book));
      List<Usage.Span> spans = Usage.spans(timeline, PlayedMarket.START, end);
      judgeBill(book, held, spans, end);
      judgeLedger(timeline, end);
      if (book.cluster.startsWith("player-")) {
        nodes.addAll(held);
        for (Usage.Span span : spans) {
          cents += span.centGpuMillis();
        }
      }
    }
    double scale = GPUS * (double) Usage.HOUR_MILLIS;
    double[] sums = integrate(nodes, end);
    double useful = sums[1] / Usage.HOUR_MILLIS;
    BitSet out = (BitSet) kept.clone();
    out.and(wanted);
    double minutes = market.world.tickMillis() / 60_000.0;
    int perHour = Math.toIntExact(Usage.HOUR_MILLIS / market.world.tickMillis());
    int worst = 0;
    for (int from = 0; from < out.length(); from += perHour) {
      worst = Math.max(worst, out.get(from, from + perHour).cardinality());
    }
    return new PlayedResult(
        sums[0] / Usage.HOUR_MILLIS,
        useful,
        cents / scale,
        sums[2] / Usage.HOUR_MILLIS,
        useful * market.world.valueCents() - cents / scale,
        out.cardinality() * minutes,
        worst * minutes,
        violations);
  }

  private void judgeBill(
      PlayedBooks book, List<Usage.Held> held, List<Usage.Span> spans, long end) {
    long active = 0;
    for (Usage.Held one : held) {
      Long to = one.toMillis();
      active += one.gpus() * ((to == null ? end : to) - one.fromMillis());
    }
    long billed = 0;
    int next = 0;
    long limit = 0;
    for (Usage.Span span : spans) {
      billed += span.gpuMillis();
      while (next < book.limits.size() && book.limits.get(next).atMillis() <= span.fromMillis()) {
        limit = Objects.requireNonNull(book.limits.get(next++).cents());
      }
      if (span.rateCents() > limit) {
        violate("ceiling", book.cluster + " is billed " + span.rateCents() + " over " + limit);
      }
    }
    if (active != billed) {
      violate("billed", book.cluster + " is billed for " + billed + " of " + active + " GPU-ms");
    }
  }

  /**
   * Checks that the ledger's line of each hour equals the bill that follows from the allocations
   * (the activity), prices and ceilings (the history).
   */
  private void judgeLedger(Usage.Timeline timeline, long end) {
    for (Usage.Line line : Usage.lines(timeline, PlayedMarket.START, end)) {
      Usage.Line recomputed = RecomputedBill.line(timeline, line.hourMillis());
      if (!line.equals(recomputed)) {
        violate("ledger", line + " instead of " + recomputed);
      }
    }
  }

  /** Node-milliseconds, node-milliseconds up to the demand, and their cost at the fair price. */
  private double[] integrate(List<Usage.Held> nodes, long end) {
    TreeMap<Long, Integer> changes = new TreeMap<>();
    for (Usage.Held one : nodes) {
      Long to = one.toMillis();
      changes.merge(one.fromMillis(), 1, Integer::sum);
      changes.merge(to == null ? end : to, -1, Integer::sum);
    }
    bids.keySet().forEach(at -> changes.putIfAbsent(at, 0));
    changes.putIfAbsent(end, 0);
    double[] sums = new double[3];
    int count = 0;
    long since = PlayedMarket.START;
    for (Map.Entry<Long, Integer> change : changes.entrySet()) {
      double millis = change.getKey() - since;
      Map.Entry<Long, List<Long>> standing = bids.floorEntry(since);
      sums[0] += count * millis;
      sums[1] += Math.min(count, market.world.demand()) * millis;
      sums[2] += count * millis * fair(count, standing == null ? List.of() : standing.getValue());
      count += change.getValue();
      since = change.getKey();
    }
    return sums;
  }

  /** Returns the highest rival bid that a number of nodes keeps out. */
  private long fair(int count, List<Long> units) {
    int left = market.world.nodes() - count;
    long reserve = market.pool.reserveCents();
    return left < units.size() ? Math.max(reserve, units.get(Math.max(0, left))) : reserve;
  }

  /**
   * Returns for how many minutes of an hour an organization may keep rivals from a node at no cost.
   * A minimum keeps free nodes until the notice of the others that it needs is over.
   */
  static double keptOutPerHour(PlayedWorld world, Player player) {
    long gathers = world.noticeMillis() + PlayedMarket.WIPE + 2 * world.tickMillis();
    return (player.hasGangs() ? Math.max(Standing.LAST_MILLIS, gathers) : Standing.LAST_MILLIS)
        / 60_000.0;
  }
}
