package dev.bourse.market;

import dev.bourse.auction.Clearing;
import dev.bourse.billing.HoldState;
import dev.bourse.billing.Ledger;
import dev.bourse.billing.SpendLimit;
import dev.bourse.billing.Usage;
import dev.bourse.capacity.Activity;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Allotment;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.OperatorCommands;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.Terms;
import dev.bourse.capacity.Transition;
import dev.bourse.core.ApiError;
import dev.bourse.nodes.Machine;
import dev.bourse.pools.Pool;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Assertions;

/**
 * A month of an exchange in virtual time: random bids, swaps, payments, limits and failing
 * machines, moved by the rules that run in the service. What it writes down is what the store would
 * hold.
 */
final class SimulatedMonth extends SimulatedBooks {
  static final long TICK = 180_000;
  static final long CHECK = 3 * TICK;
  static final long DAY = 24 * Usage.HOUR_MILLIS;
  static final int POOLS = 3;
  private static final int ORGS = 200;
  private static final int NODES = 30;

  final Map<String, Integer> seen = new TreeMap<>();
  private final Random random;
  private final PriorityQueue<Due> due = new PriorityQueue<>((a, b) -> Long.compare(a.at, b.at));
  private int allocations;

  private record Due(long at, Runnable what) {}

  SimulatedMonth(long seed) {
    random = new Random(seed);
    for (int p = 0; p < POOLS; p++) {
      Pool like = Sample.POOL;
      Market market =
          new Market(
              new Pool(
                  "pool" + p,
                  like.site(),
                  like.provider(),
                  like.gpuVendor(),
                  like.gpuModel(),
                  GPUS,
                  100,
                  1_000,
                  true,
                  true,
                  false,
                  like.environment()));
      for (int n = 0; n < NODES; n++) {
        String id = "p" + p + "n" + n;
        market.nodes.put(
            id, new Node(new Machine(id, "10." + p + ".0." + n, 22, null), false, 0, 0, null));
      }
      markets.add(market);
    }
    for (int i = 0; i < ORGS; i++) {
      Org org = new Org("org" + i);
      orgs.put(org.id, org);
      int first = random.nextInt(POOLS);
      int count = random.nextInt(3) == 0 ? 2 : 1;
      for (int c = 0; c < count; c++) {
        Market market = markets.get((first + c) % POOLS);
        String name = org.id + "-c" + c;
        History history =
            new History(
                market,
                Cluster.created(
                    name, org.id, market.pool.name(), Cluster.Kind.VM, Cluster.Posture.MARKET));
        clusters.put(name, history);
        market.buyers.add(history);
        org.clusters.add(name);
      }
      book(org, Ledger.Kind.CREDIT, dollars(100, 3_000));
      if (i % 3 == 0) {
        org.limit = dollars(200, 2_000);
      }
    }
  }

  private long dollars(int least, int most) {
    return random.nextInt(least, most) * 1_000_000L + random.nextInt(1_000_000);
  }

  private void count(String what) {
    seen.merge(what, 1, Integer::sum);
  }

  private void book(Org org, Ledger.Kind kind, long micros) {
    org.given += micros;
    ledger =
        ledger.after(
            Ledger.given(kind, org.id, "k" + seen.size() + now, micros, "operator:x", "", now));
    count(kind.label());
  }

  /** Runs to the month's end. */
  void run() {
    int ticks = 0;
    while (now < month.endMillis()) {
      happen();
      tick();
      if (now >= through + Usage.HOUR_MILLIS + TICK) {
        post();
      }
      if (ticks++ % (int) (CHECK / TICK) == 0) {
        orgs.values().forEach(this::check);
      }
      now += TICK;
    }
    now = month.endMillis();
    while (through < now) {
      post();
    }
  }

  /** What people and machines do until the next tick, each at a moment of its own. */
  private void happen() {
    long tickAt = now;
    for (int i = random.nextInt(4); i > 0; i--) {
      long at = Math.max(month.startMillis(), tickAt - random.nextLong(TICK));
      due.add(new Due(at, this::someoneActs));
    }
    while (!due.isEmpty() && due.peek().at <= tickAt) {
      Due next = due.remove();
      now = Math.min(tickAt, next.at);
      next.what.run();
    }
    now = tickAt;
  }

  private void someoneActs() {
    List<String> names = new ArrayList<>(clusters.keySet());
    History history = history(names.get(random.nextInt(names.size())));
    Org org = org(history);
    switch (random.nextInt(12)) {
      case 0 -> book(org, Ledger.Kind.PAYMENT, dollars(10, 2_000));
      case 1 -> {
        if (org.limit != null && random.nextInt(4) == 0) {
          org.limit += dollars(100, 2_000);
          count("limit raised");
        }
      }
      case 2 -> swap(history);
      default -> declare(history);
    }
    check(org);
  }

  private void declare(History history) {
    BigDecimal price = BigDecimal.valueOf(random.nextInt(80, 900), 2);
    Capacity.Declare order =
        new Capacity.Declare(
            "token:x", random.nextInt(6) * GPUS, price, Optional.empty(), history.state.version());
    try {
      apply(history, Capacity.declare(history.state, order, terms(history), now));
      count("declared");
    } catch (ApiError refused) {
      count(refused.code().code());
    }
  }

  private void swap(History history) {
    List<Allocation> held = history.state.releaseOrder();
    if (!held.isEmpty()) {
      try {
        String ip = Objects.requireNonNull(held.get(0).publicIp());
        apply(history, Capacity.swap(history.state, "token:x", ip, terms(history), now));
        count("swapped");
      } catch (ApiError refused) {
        count(refused.code().code());
      }
    }
  }

  private static Terms terms(History history) {
    return new Terms(history.market.pool, null, true, true, 0);
  }

  /** What the store would write. */
  private void apply(History history, Transition transition) {
    history.state = transition.next();
    for (Activity entry : transition.activity()) {
      if (entry.event() instanceof ClusterEvent.Declared declared) {
        history.ceilings.add(new Usage.ChangePoint(now, declared.ceilingCents()));
        history.recentCeilings.add(new Usage.ChangePoint(now, declared.ceilingCents()));
      }
    }
    for (Allocation allocation : transition.next().allocations()) {
      Allocation before = history.allocations.put(allocation.allocationId(), allocation);
      history.recent.put(allocation.allocationId(), allocation);
      if (before == null) {
        later(30_000, 400_000, () -> ready(history, allocation));
      }
      if (!allocation.isOpen() && (before == null || before.isOpen())) {
        count("reclaimed " + Objects.requireNonNull(allocation.reclaim()).reason().label());
        later(5_000, 200_000, () -> clean(history, allocation.allocationId()));
      }
    }
  }

  private void later(int least, int most, Runnable what) {
    due.add(new Due(now + random.nextInt(least, most), what));
  }

  private void ready(History history, Allocation allocation) {
    Market market = history.market;
    Node node = Objects.requireNonNull(market.nodes.get(allocation.nodeId()));
    if (random.nextInt(12) == 0) {
      market.nodes.put(node.nodeId(), node.failures() < 3 ? node.failed(now) : node.healthy());
      apply(history, Allotment.unwound(history.state, allocation.allocationId(), "failed", now));
      count("failed");
    } else {
      market.nodes.put(node.nodeId(), node.healthy());
      apply(
          history,
          Allotment.provisioned(history.state, allocation.allocationId(), Sample.PROTECTION, now));
    }
  }

  private void clean(History history, String allocationId) {
    apply(history, Allotment.reclaimed(history.state, allocationId));
  }

  private void tick() {
    // All pools read what is left at one moment, the worst that replicas can do.
    Allowance allowance = allowance();
    for (Market market : markets) {
      List<Cluster> states = market.buyers.stream().map(b -> b.state).toList();
      Tick.Outcome outcome =
          new Tick(market.pool, Sample.views(market.pool, states), Sample.FRESHNESS, allowance, now)
              .decide(new Tick.Nodes(market.nodes.values(), Set.of(), Map.of()));
      Usage.ChangePoint price = new Usage.ChangePoint(now, outcome.clearing().clearingCents());
      Usage.ChangePoint last =
          market.prices.isEmpty() ? null : market.prices.get(market.prices.size() - 1);
      if (last == null || !Objects.equals(last.cents(), price.cents())) {
        market.prices.add(price);
        market.recentPrices.add(price);
      }
      outcome.decided().forEach((name, decided) -> settle(history(name), decided, allowance));
    }
    orgs.values().forEach(this::noteTick);
  }

  private Allowance allowance() {
    Map<String, Long> remaining = new HashMap<>();
    for (Org org : orgs.values()) {
      if (org.limit != null) {
        long month = monthMicros(org);
        noteReached(org, month >= org.limit, month);
        remaining.put(org.id, SpendLimit.remainingMicros(org.limit, month, committed(org)));
      }
    }
    return new Allowance(remaining, SpendLimit.windowMillis(Sample.PROTECTION, now));
  }

  private long committed(Org org) {
    List<SpendLimit.Holder> holders =
        org.clusters.stream()
            .map(name -> new SpendLimit.Holder(history(name).state, GPUS))
            .toList();
    return SpendLimit.committedMicros(holders, Sample.PROTECTION, now);
  }

  private void settle(History history, Tick.Decided decided, Allowance allowance) {
    List<Allotment.Orders.Grant> grants = new ArrayList<>();
    boolean buys = false;
    for (Clearing.Grant grant : decided.grants()) {
      buys |= grant.replaces() == null;
      grants.add(
          new Allotment.Orders.Grant(
              "a" + allocations++,
              grant.nodeId(),
              Objects.requireNonNull(history.market.nodes.get(grant.nodeId())).machine().publicIp(),
              grant.replaces(),
              List.of("key")));
    }
    Hold hold = history.state.hold();
    if (hold != null && hold.stage() != Hold.Stage.GRACE) {
      Assertions.assertFalse(buys, "granted under a hold");
    }
    apply(
        history,
        Allotment.settle(
            history.state,
            new Allotment.Orders(
                decided.seenRevision(),
                grants,
                decided.reclaims(),
                decided.verdict(),
                Sample.FRESHNESS),
            now));
    Org org = org(history);
    if (buys) {
      count("granted");
    }
    if (buys && org.limit != null) {
      // Clusters in two pools may each commit what was left; in one, nobody goes over.
      long left = allowance.remainingMicros().getOrDefault(org.id, 0L);
      long most = org.limit + (org.clusters.size() - 1) * left;
      long comesTo = monthMicros(org) + committed(org);
      Assertions.assertTrue(comesTo <= most, org.id + " commits " + comesTo + " of " + org.limit);
      if (comesTo > org.limit) {
        count("committed over the limit through two pools");
      }
    }
  }

  private void check(Org org) {
    long month = monthMicros(org);
    long balance = ledger.balance(Ledger.account(org.id)) - (month - org.monthMicros);
    boolean used = org.used || month > 0;
    boolean reached = org.limit != null && month >= org.limit;
    HoldState next =
        org.hold.next(
            new HoldState.Shortfall(used && balance <= 0, reached, true, true), DAY, DAY, now);
    if (!next.equals(org.hold)) {
      count("hold " + next.stage().label());
      Assertions.assertTrue(
          next.stage() != HoldState.Stage.ENFORCE
              || org.hold.stage() == HoldState.Stage.ENFORCE
              || (org.hold.stage() == HoldState.Stage.NOTICE
                  && now - org.hold.sinceMillis() >= DAY),
          "a whole notice");
      org.hold = next;
    }
    for (String name : org.clusters) {
      History history = history(name);
      Cluster before = history.state;
      apply(history, OperatorCommands.billingHold(next.onClusters(DAY)).apply(before, now));
      Assertions.assertEquals(before.declared(), history.state.declared());
    }
  }

  /**
   * How much may still be spent once the limit is reached, by the contract's bound. It is reached
   * between two ticks, and what was held at that moment may be released by now.
   */
  private void noteReached(Org org, boolean reached, long month) {
    if (!reached) {
      org.allowedMicros = -1;
    } else if (org.allowedMicros < 0) {
      count("limit reached");
      org.reachedHeldGpus = Math.max(org.tickGpus, gpusHeld(org));
      org.reachedCeiling = org.tickCeiling;
      org.allowedMicros = 0;
    }
    if (org.allowedMicros >= 0) {
      org.reachedCeiling = Math.max(org.reachedCeiling, highestCeiling(org));
      long held = org.reachedHeldGpus * org.reachedCeiling * (2 * DAY + 3 * CHECK + TICK) / 360;
      org.allowedMicros = Objects.requireNonNull(org.limit) * org.clusters.size() + held;
      Assertions.assertTrue(
          month <= org.allowedMicros, org.id + " used " + month + " of " + org.allowedMicros);
    }
  }

  /** What a tick leaves an organization with; until the next one it can only become less. */
  private void noteTick(Org org) {
    org.tickGpus = gpusHeld(org);
    org.tickCeiling = highestCeiling(org);
  }
}
