package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.auction.Clearing;
import dev.bourse.billing.Usage;
import dev.bourse.capacity.Activity;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Command;
import dev.bourse.capacity.DirectChange;
import dev.bourse.capacity.Gang;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.Lapse;
import dev.bourse.capacity.MarketTransitions;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.Transition;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The pools of a simulated month: their ticks, the processes that run them and die, and their
 * machines. Each change of a cluster is recorded as the store would hold it, and judged.
 */
abstract class SimulatedMarkets extends SimulatedBooks {
  static final long TICK = 180_000;
  private static final long PATIENCE = MarketConfig.GANG_PATIENCE.toMillis();

  /** One tick in this number is the last of its process. */
  private static final int CRASH_ONE_IN = 250;

  /** The longest time without a process that runs the market. */
  private static final long LONGEST_STANDSTILL = 5 * Usage.HOUR_MILLIS;

  final Random random;

  /** The total time of stopped markets and of wrong clocks. */
  long lateMillis;

  private final NoticeRules notices = new NoticeRules(clocks, this::count);
  private final LapseRules lapses = new LapseRules(this, TICK, this::count);
  private final GangRules gangs = new GangRules(this::count);
  private final PriorityQueue<Due> due = new PriorityQueue<>((a, b) -> Long.compare(a.at, b.at));

  /** The addresses of each cluster's nodes, from its activity. */
  private final Map<String, Set<String>> told = new TreeMap<>();

  private int allocations;

  /** An event at a time of the monotonic clock. */
  private record Due(long at, Runnable what) {}

  SimulatedMarkets(long seed) {
    random = new Random(seed);
  }

  /** Runs all events that are due until a time. */
  void passTo(long monotonic) {
    while (!due.isEmpty() && due.peek().at <= monotonic) {
      Due next = due.remove();
      clocks.passTo(next.at);
      next.what.run();
    }
    clocks.passTo(monotonic);
  }

  void at(long monotonic, Runnable what) {
    due.add(new Due(monotonic, what));
  }

  private void later(int least, int most, Runnable what) {
    at(clocks.monotonic() + random.nextInt(least, most), what);
  }

  /** Sets the wall clock. */
  void set(long byMillis) {
    clocks.set(byMillis);
    lateMillis += Math.abs(byMillis);
    markets.forEach(
        market -> {
          if (market.holder != null) {
            market.holder.look();
          }
        });
    notices.clockSet();
    count(byMillis > 0 ? "clock set ahead" : "clock set back");
  }

  /** Carries out a command for a cluster, after a due end of its declaration. */
  void order(History history, Command command, MonthClocks.Watch process) {
    if (Lapse.isDue(history.state, process.undoubtedMillis())) {
      write(history, DirectChange.lapse());
    }
    write(history, command);
  }

  /** Records the rows that the store would write. */
  private void write(History history, Command command) {
    Transition transition = command.apply(history.state, now());
    Cluster before = history.state;
    Cluster after = transition.next();
    if (after.revision() == before.revision()) {
      return;
    }
    history.state = after;
    for (Activity entry : transition.activity()) {
      note(history, entry.event());
    }
    for (Allocation allocation : after.allocations()) {
      Allocation was = history.allocations.put(allocation.allocationId(), allocation);
      history.recent.put(allocation.allocationId(), allocation);
      if (was == null) {
        later(30_000, 400_000, () -> ready(history, allocation));
      }
      if (!allocation.isOpen() && (was == null || was.isOpen())) {
        later(5_000, 200_000, () -> clean(history, allocation.allocationId()));
      }
      if (allocation.isReady() && Gang.isNext(after, allocation, GPUS)) {
        later(1_000, 5_000, () -> completed(history, allocation));
      }
    }
    agree(history);
    Long ceiling = ceiling(after);
    if (ceiling != null && !ceiling.equals(ceiling(before))) {
      Usage.ChangePoint step = new Usage.ChangePoint(now(), ceiling);
      note(history.ceilings, step);
      note(history.recentCeilings, step);
    }
    notices.judge(before, after);
    notices.judge(before, command, after);
    gangs.judge(before, after, now());
    lapses.judge(history, transition);
  }

  private void note(History history, ClusterEvent event) {
    Set<String> held = told.computeIfAbsent(history.state.name(), name -> new HashSet<>());
    String ip = String.valueOf(event.publicIp());
    // The activity reports the nodes of a minimum when all are ready.
    boolean isTold = event.publicIp() != null;
    if (event instanceof ClusterEvent.Granted) {
      assertTrue(held.add(ip), () -> "granted twice: " + ip);
    } else if (event instanceof ClusterEvent.Released released) {
      count("reclaimed " + released.reason().label());
      assertTrue(!isTold || held.remove(ip), () -> "released twice: " + ip);
    } else if (event instanceof ClusterEvent.Unwound unwound) {
      count(unwound.cause().contains("min_gpus") ? "gang unwound" : "failed");
      assertTrue(!isTold || held.remove(ip), () -> "unwound twice: " + ip);
    }
  }

  /** Checks that the activity reports exactly the nodes that are held and reachable. */
  private void agree(History history) {
    Set<String> held = new HashSet<>();
    for (Allocation allocation : history.state.allocations()) {
      if (allocation.isOpen() && allocation.publicIp() != null) {
        held.add(String.valueOf(allocation.publicIp()));
      }
    }
    assertEquals(held, told.getOrDefault(history.state.name(), Set.of()));
  }

  /** Works on machines in the process that runs the market; the next process continues. */
  private boolean waits(History history, Runnable what) {
    Market market = history.market;
    if (market.holder == null) {
      long from = Math.max(clocks.monotonic(), market.heldFrom);
      at(from + random.nextLong(TICK), what);
    }
    return market.holder == null;
  }

  private void ready(History history, Allocation allocation) {
    if (waits(history, () -> ready(history, allocation))) {
      return;
    }
    Market market = history.market;
    Node node = Objects.requireNonNull(market.nodes.get(allocation.nodeId()));
    boolean isWanted =
        history
            .state
            .find(allocation.allocationId())
            .filter(a -> a.state() == Allocation.State.PROVISIONING)
            .isPresent();
    if (isWanted && random.nextInt(12) == 0) {
      market.nodes.put(
          node.nodeId(), node.failures() < 3 ? node.failed(now(), null) : node.healthy());
      order(
          history,
          (cluster, at) ->
              MarketTransitions.unwound(cluster, allocation.allocationId(), "failed", at),
          holder(market));
    } else {
      market.nodes.put(node.nodeId(), node.healthy());
      completed(history, allocation);
    }
  }

  private void completed(History history, Allocation allocation) {
    if (waits(history, () -> completed(history, allocation))) {
      return;
    }
    String id = allocation.allocationId();
    Function<String, @Nullable String> addresses = node -> address(history.market, node);
    order(
        history,
        (cluster, at) ->
            cluster.find(id).filter(a -> a.isReady() && a.keysDue()).isPresent()
                ? MarketTransitions.keyed(cluster, id, GPUS, Sample.PROTECTION, addresses, at)
                : MarketTransitions.provisioned(
                    cluster, id, GPUS, Sample.PROTECTION, addresses, at),
        holder(history.market));
  }

  private static String address(Market market, String nodeId) {
    return Objects.requireNonNull(market.nodes.get(nodeId)).machine().publicIp();
  }

  private void clean(History history, String allocationId) {
    if (!waits(history, () -> clean(history, allocationId))) {
      order(
          history,
          (cluster, at) -> MarketTransitions.reclaimed(cluster, allocationId),
          holder(history.market));
    }
  }

  /** Returns the process that runs a market; a new one if the last has died. */
  private MonthClocks.Watch holder(Market market) {
    MonthClocks.Watch holder = market.holder;
    if (holder == null) {
      holder = clocks.watch();
      market.holder = holder;
      market.quoteCents = random.nextBoolean() ? null : market.quoteCents;
      market.buyers.forEach(buyer -> notices.takenOver(buyer.state));
    }
    return holder;
  }

  private void crash(Market market, String during) {
    count("crash " + during);
    market.holder = null;
    long standstill =
        random.nextBoolean() ? random.nextLong(1_000, TICK) : random.nextLong(LONGEST_STANDSTILL);
    if (standstill > TICK) {
      count("market stands still");
    }
    if (standstill > Usage.HOUR_MILLIS) {
      count("market stands still for hours");
    }
    market.heldFrom = clocks.monotonic() + standstill;
    lateMillis += standstill + TICK;
  }

  /** Ends every process that runs a market; others take over at once. */
  void dieAll() {
    for (Market market : markets) {
      if (market.holder != null) {
        count("crash when the clock is set");
        market.holder = null;
      }
    }
  }

  private boolean isRun(Market market) {
    return clocks.monotonic() >= market.heldFrom;
  }

  /**
   * Carries out orders; a process that dies leaves some of them undone, at random.
   *
   * @param during the operation at which the process dies; empty if it does not
   */
  private void give(Market market, List<Runnable> orders, String during) {
    for (Runnable each : orders) {
      if (during.isEmpty() || random.nextBoolean()) {
        each.run();
      }
    }
    if (!during.isEmpty()) {
      crash(market, during);
    }
  }

  private String dies(String during) {
    return random.nextInt(4 * CRASH_ONE_IN) == 0 ? during : "";
  }

  /** Runs one tick of every pool that has a process. */
  void tick() {
    for (Market market : markets) {
      if (isRun(market)) {
        endDue(market);
      }
    }
    // All pools read the allowance at one moment, the worst case with several replicas.
    SpendingAllowance allowance = allowance();
    for (Market market : markets) {
      if (isRun(market)) {
        tick(market, allowance);
      }
    }
  }

  /** Returns the rest of the organizations' limits. */
  abstract SpendingAllowance allowance();

  /** Records that an organization was granted nodes. */
  abstract void granted(Org org, SpendingAllowance allowance);

  private void endDue(Market market) {
    MonthClocks.Watch holder = holder(market);
    OptionalLong time = holder.undoubtedMillis();
    List<Runnable> orders = new ArrayList<>();
    for (History history : market.buyers) {
      if (Lapse.isDue(history.state, time)) {
        orders.add(() -> order(history, Lapse.due(), holder));
      }
    }
    give(market, orders, dies("while declarations end"));
  }

  private void tick(Market market, SpendingAllowance limits) {
    MonthClocks.Watch holder = holder(market);
    Budgets budgets = budgets(market);
    if (holder.undoubtedMillis().isPresent()) {
      endSpent(market, holder, budgets);
      if (!isRun(market)) {
        return;
      }
    } else {
      count("tick under a doubted clock");
    }
    SpendingAllowance allowance = limits.with(budgets);
    List<Cluster> states = market.buyers.stream().map(b -> b.state).toList();
    Tick.Nodes nodes = new Tick.Nodes(market.nodes.values(), Set.of(), Map.of());
    Tick.Outcome outcome = decide(market, holder, states, nodes, allowance);
    List<Runnable> orders = new ArrayList<>();
    orders.add(() -> price(market, outcome.clearing()));
    outcome
        .decided()
        .forEach((name, decided) -> orders.add(() -> settle(history(name), decided, allowance)));
    if (random.nextInt(CRASH_ONE_IN) == 0) {
      boolean isLost = random.nextBoolean();
      give(market, isLost ? List.of() : orders, isLost ? "before any order" : "amid orders");
      return;
    }
    give(market, orders, "");
    market.quoteCents = outcome.clearing().clearingCents();
    if (holder.undoubtedMillis().isPresent()) {
      market.buyers.forEach(buyer -> lapses.looked(buyer.state));
    }
  }

  private Budgets budgets(Market market) {
    Map<String, Spent> spent = new HashMap<>();
    for (History history : market.buyers) {
      Lapse.budget(history.state)
          .ifPresent(budget -> spent.put(history.state.name(), spent(history, budget, now())));
    }
    return new Budgets(spent, TICK);
  }

  /** Ends declarations as {@link Lapses} does. */
  private void endSpent(Market market, MonthClocks.Watch holder, Budgets budgets) {
    List<Runnable> orders = new ArrayList<>();
    budgets
        .spent()
        .forEach(
            (name, spent) -> {
              History history = history(name);
              if (budgets.isUsedUp(history.state, GPUS, market.quoteCents)) {
                long end = Math.max(Usage.hourOf(now()), spent.reachedAtMillis().orElse(now()));
                orders.add(() -> order(history, Lapse.spent(spent.budget(), end), holder));
              }
            });
    give(market, orders, dies("while budgets end"));
  }

  /** Decides as {@link TickRunner} does, and the same in a world without notices. */
  private Tick.Outcome decide(
      Market market,
      MonthClocks.Watch holder,
      List<Cluster> states,
      Tick.Nodes nodes,
      SpendingAllowance allowance) {
    List<ClusterView> views = Sample.views(market.pool, states);
    long noticeMillis = Notices.millis(market.pool.noticeMillis(), 0);
    Set<String> over = holder.notices().over(views, now());
    Tick tick =
        tick(
            market,
            views,
            allowance,
            new Notices(noticeMillis, a -> over.contains(a.allocationId())));
    Tick.Outcome outcome = tick.decide(nodes);
    holder.notices().recordGiven(outcome.decided().values(), now());
    if (noticeMillis > 0) {
      List<Cluster> untold = states.stream().map(DirectChange::withoutNotices).toList();
      Tick without =
          tick(market, Sample.views(market.pool, untold), allowance, Notices.at(0, now()));
      notices.judge(outcome, without.decide(nodes), market.pool.reserveCents());
    }
    notices.judge(outcome, noticeMillis, states);
    states.forEach(cluster -> gangs.judge(tick, outcome, cluster, now()));
    return outcome;
  }

  private Tick tick(
      Market market, List<ClusterView> views, SpendingAllowance allowance, Notices notices) {
    boolean isDoubted = market.holder != null && market.holder.undoubtedMillis().isEmpty();
    Patience patience = new Patience(PATIENCE, isDoubted);
    return new Tick(market.pool, views, Sample.FRESHNESS, patience, allowance, notices, now());
  }

  /**
   * Stores the price as {@link Settlement} does, after the last one even if the clock was set back.
   */
  private void price(Market market, Clearing clearing) {
    for (History history : market.buyers) {
      List<Usage.ChangePoint> prices = history.prices;
      Usage.ChangePoint last = prices.isEmpty() ? null : prices.get(prices.size() - 1);
      Long cents = clearing.centsOf(history.state.orgId());
      if (last == null || !Objects.equals(last.cents(), cents)) {
        long at = last == null ? now() : Math.max(now(), last.atMillis() + 1);
        prices.add(new Usage.ChangePoint(at, cents));
        history.recentPrices.add(new Usage.ChangePoint(at, cents));
      }
    }
  }

  private void settle(History history, Tick.ClusterDecision decided, SpendingAllowance allowance) {
    List<MarketTransitions.Orders.Grant> grants = new ArrayList<>();
    boolean buys = false;
    for (Clearing.Grant grant : decided.grants()) {
      buys |= grant.replaces() == null;
      grants.add(
          new MarketTransitions.Orders.Grant(
              "a" + allocations++,
              grant.nodeId(),
              Objects.requireNonNull(history.market.nodes.get(grant.nodeId())).machine().publicIp(),
              grant.replaces(),
              List.of("key"),
              decided.minimumSlots(grant)));
    }
    Hold hold = history.state.hold();
    if (hold != null && hold.stage() != Hold.Stage.GRACE) {
      assertFalse(buys, "granted under a hold");
    }
    MarketTransitions.Orders orders = decided.orders(grants, GPUS, Sample.FRESHNESS);
    order(
        history,
        (cluster, at) -> MarketTransitions.settle(cluster, orders, at),
        holder(history.market));
    if (buys) {
      count("granted");
      granted(org(history), allowance);
    }
  }
}
