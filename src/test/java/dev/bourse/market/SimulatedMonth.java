package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.billing.HoldState;
import dev.bourse.billing.Ledger;
import dev.bourse.billing.SpendLimit;
import dev.bourse.billing.Usage;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Command;
import dev.bourse.capacity.Conditions;
import dev.bourse.capacity.OperatorCommands;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.Terms;
import dev.bourse.core.ApiException;
import dev.bourse.core.Times;
import dev.bourse.nodes.Machine;
import dev.bourse.pools.Pool;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A month of an exchange in virtual time: random bids, some with an end, a budget or a minimum;
 * swaps, payments, limits, failing machines, processes that die and clocks that are set, moved by
 * the rules of the service. It records the rows that the store would hold.
 */
final class SimulatedMonth extends SimulatedMarkets {
  static final long CHECK = 3 * TICK;
  static final long DAY = 24 * Usage.HOUR_MILLIS;

  /** The lengths of the pools' notices; the last pool gives none. */
  private static final List<Long> NOTICES = List.of(5 * TICK, 2 * TICK + 60_000, 0L);

  /** The default of {@code billing.settle}. */
  private static final long SETTLE = 120_000;

  /** The clock is set before one tick in this number. */
  private static final int CLOCK_SET_ONE_IN = 120;

  private static final int ORGS = 100;
  private static final int NODES = 15;

  private final List<History> everybody = new ArrayList<>();

  /** A process that takes clients' writes and posts usage, and never dies. */
  private final MonthClocks.Watch front = clocks.watch();

  SimulatedMonth(long seed) {
    super(seed);
    for (int p = 0; p < NOTICES.size(); p++) {
      String pool = "pool" + p;
      Long notice = NOTICES.get(p);
      Market market =
          new Market(
              Sample.POOL.with(
                  own ->
                      own.name(pool)
                          .hardware(new Pool.Hardware("NVIDIA", "H100", GPUS))
                          .rules(new Pool.Rules(true, true, false, Pool.Tenants.LOGIN, notice))));
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
      int first = random.nextInt(NOTICES.size());
      int count = random.nextInt(3) == 0 ? 2 : 1;
      for (int c = 0; c < count; c++) {
        Market market = markets.get((first + c) % NOTICES.size());
        String name = org.id + "-c" + c;
        History history =
            new History(
                market,
                Cluster.created(
                    name, org.id, market.pool.name(), Cluster.Kind.VM, Cluster.Posture.MARKET));
        clusters.put(name, history);
        market.buyers.add(history);
        everybody.add(history);
        org.clusters.add(name);
      }
      book(org, Ledger.Kind.CREDIT, dollars(50, 1_000));
      if (i % 3 == 0) {
        org.limit = dollars(200, 2_000);
      }
    }
  }

  private long dollars(int least, int most) {
    return random.nextInt(least, most) * 1_000_000L + random.nextInt(1_000_000);
  }

  private void book(Org org, Ledger.Kind kind, long micros) {
    org.given += micros;
    String key = "k" + seen.size() + "-" + clocks.monotonic();
    ledger = ledger.after(Ledger.given(kind, org.id, key, micros, "operator:x", "", now()));
    count(kind.label());
  }

  /** Runs until the end of the month. */
  void run() {
    int ticks = 0;
    while (now() < month.endMillis()) {
      tick();
      orgs.values().stream().filter(org -> org.limit != null).forEach(this::noteTick);
      post(front.confirmedMillis());
      if (ticks++ % (int) (CHECK / TICK) == 0) {
        orgs.values().forEach(this::check);
      }
      happen(clocks.monotonic() + TICK);
    }
    while (through < month.endMillis()) {
      post();
    }
  }

  /** Posts the hours that have ended and settled. */
  private void post(OptionalLong confirmed) {
    while (confirmed.isPresent() && confirmed.getAsLong() >= through + Usage.HOUR_MILLIS + SETTLE) {
      post();
    }
  }

  /** Schedules the actions of people and machines until the next tick, each at its own time. */
  private void happen(long nextTick) {
    for (int i = random.nextInt(4); i > 0; i--) {
      at(nextTick - random.nextLong(TICK), this::someoneActs);
    }
    if (random.nextInt(CLOCK_SET_ONE_IN) == 0) {
      at(nextTick - random.nextLong(TICK), this::someoneSetsTheClock);
    }
    passTo(nextTick);
  }

  /**
   * Sets the clock by less than the step that needs confirmation, so that no posted hour comes
   * again; the tests of reversals cover that case.
   */
  private void someoneSetsTheClock() {
    long back = Math.min(MonthClocks.CONFIRM_AFTER - 60_000, now() - through);
    long by =
        random.nextBoolean()
            ? random.nextLong(5_000, 40 * 60_000)
            : -random.nextLong(Math.max(1, back));
    if (Math.abs(by) > 2_000) {
      set(by);
      front.look();
      if (random.nextInt(4) == 0) {
        dieAll();
      }
    }
  }

  private void someoneActs() {
    History history = everybody.get(random.nextInt(everybody.size()));
    Org org = org(history);
    switch (random.nextInt(12)) {
      case 0 -> book(org, Ledger.Kind.PAYMENT, dollars(10, 500));
      case 1 -> {
        if (org.limit != null && random.nextInt(4) == 0) {
          org.limit += dollars(100, 2_000);
          org.isRaised = true;
          count("limit raised");
        }
      }
      case 2, 3 -> swap(history);
      default -> declare(history);
    }
    check(org);
  }

  private void declare(History history) {
    BigDecimal price = BigDecimal.valueOf(random.nextInt(80, 900), 2);
    int nodes = random.nextInt(6);
    Capacity.Declare order =
        new Capacity.Declare(
            "token:x",
            nodes * GPUS,
            price,
            Optional.empty(),
            history.state.version(),
            conditions(nodes));
    ask(history, "declared", (cluster, at) -> Capacity.declare(cluster, order, terms(history), at));
  }

  /** Some bids have a minimum, some an end, some a budget. */
  private Conditions.Changes conditions(int nodes) {
    JsonObject sent = new JsonObject();
    if (nodes < 2 || random.nextInt(3) == 0) {
      sent.putNull("min_gpus");
    } else if (!random.nextBoolean()) {
      sent.put("min_gpus", GPUS * random.nextInt(2, nodes + 1));
    }
    if (random.nextInt(3) == 0) {
      sent.put("until", Times.rfc3339(now() + random.nextLong(60_000, 30 * 3_600_000L)));
    } else {
      keepOrClear(sent, "until");
    }
    if (random.nextInt(3) == 0) {
      sent.put("max_spend_usd", BigDecimal.valueOf(random.nextInt(1, 20_000), 2));
    } else {
      keepOrClear(sent, "max_spend_usd");
    }
    return Conditions.Changes.of(sent);
  }

  private void keepOrClear(JsonObject sent, String field) {
    if (random.nextInt(4) == 0) {
      sent.putNull(field);
    }
  }

  /** Carries out a client's request, which may be rejected. */
  private void ask(History history, String what, Command command) {
    try {
      order(history, command, front);
      count(what);
    } catch (ApiException refused) {
      count(refused.code().code());
    }
  }

  private void swap(History history) {
    List<String> held =
        history.state.releaseOrder().stream()
            .map(Allocation::publicIp)
            .filter(Objects::nonNull)
            .toList();
    if (!held.isEmpty()) {
      String ip = held.get(0);
      ask(
          history,
          "swapped",
          (cluster, at) -> Capacity.swap(cluster, "token:x", ip, terms(history), at));
    }
  }

  private static Terms terms(History history) {
    return Sample.terms(history.market.pool, null, true, true, 0);
  }

  @Override
  SpendingAllowance allowance() {
    Map<String, Long> remaining = new HashMap<>();
    for (Org org : orgs.values()) {
      if (org.limit != null) {
        long month = monthMicros(org);
        noteReached(org, month >= org.limit, month);
        remaining.put(org.id, SpendLimit.remainingMicros(org.limit, month, committed(org)));
      }
    }
    return new SpendingAllowance(remaining, SpendLimit.windowMillis(Sample.PROTECTION, now()));
  }

  private long committed(Org org) {
    List<SpendLimit.Holder> holders =
        org.clusters.stream()
            .map(name -> new SpendLimit.Holder(history(name).state, GPUS))
            .toList();
    return SpendLimit.committedMicros(holders, Sample.PROTECTION, now());
  }

  @Override
  void granted(Org org, SpendingAllowance allowance) {
    if (org.limit != null) {
      // Clusters in two pools may each commit the rest of the limit; in one pool, no organization
      // exceeds it.
      long left = allowance.remainingMicros().getOrDefault(org.id, 0L);
      long most = org.limit + (org.clusters.size() - 1) * left;
      long comesTo = monthMicros(org) + committed(org);
      assertTrue(comesTo <= most, org.id + " commits " + comesTo + " of " + org.limit);
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
            new HoldState.Shortfall(used && balance <= 0, reached, true, true), DAY, DAY, now());
    if (!next.equals(org.hold)) {
      count("hold " + next.stage().label());
      assertTrue(
          next.stage() != HoldState.Stage.ENFORCE
              || org.hold.stage() == HoldState.Stage.ENFORCE
              || (org.hold.stage() == HoldState.Stage.NOTICE
                  && now() - org.hold.sinceMillis() >= DAY),
          "a whole notice");
      org.hold = next;
    }
    for (String name : org.clusters) {
      History history = history(name);
      Cluster before = history.state;
      order(history, OperatorCommands.billingHold(next.clusterHold(DAY)), front);
      boolean isEnded = before.version() < history.state.version();
      assertTrue(isEnded || Objects.equals(before.declared(), history.state.declared()));
    }
  }

  /**
   * Returns the amount that may still be spent after the limit is reached, by the contract's bound.
   * The limit is reached between two ticks, and nodes held at that moment may have been released
   * since.
   */
  private void noteReached(Org org, boolean reached, long month) {
    if (reached && !org.isReached) {
      count("limit reached");
      long held = Math.max(org.tickGpus, gpusHeld(org));
      boolean isFirst = org.allowedMicros < 0;
      // A clock that is set back reduces the spending, so the limit is reached again.
      org.reachedHeldGpus = Math.max(held, isFirst ? 0 : org.reachedHeldGpus);
      org.reachedCeiling = Math.max(org.tickCeiling, isFirst ? 0 : org.reachedCeiling);
      org.reachedLateMillis = isFirst ? lateMillis : org.reachedLateMillis;
      org.allowedMicros = 0;
    }
    if (!reached && org.isRaised) {
      org.allowedMicros = -1;
      org.isRaised = false;
    }
    org.isReached = reached;
    if (org.allowedMicros >= 0) {
      org.reachedCeiling = Math.max(org.reachedCeiling, highestCeiling(org));
      long late = lateMillis - org.reachedLateMillis;
      long millis = 2 * DAY + 3 * CHECK + TICK + late;
      long held = org.reachedHeldGpus * org.reachedCeiling * millis / 360;
      org.allowedMicros = Objects.requireNonNull(org.limit) * org.clusters.size() + held;
      assertTrue(
          month <= org.allowedMicros, org.id + " used " + month + " of " + org.allowedMicros);
    }
  }

  /**
   * Records the holdings of an organization after a tick; they can only shrink until the next one.
   */
  private void noteTick(Org org) {
    org.tickGpus = gpusHeld(org);
    org.tickCeiling = highestCeiling(org);
  }
}
