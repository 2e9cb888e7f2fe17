package dev.bourse.market;

import dev.bourse.auction.Clearing;
import dev.bourse.auction.Supply;
import dev.bourse.billing.PricesInForce;
import dev.bourse.billing.Usage;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Command;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.DirectChange;
import dev.bourse.capacity.Gang;
import dev.bourse.capacity.MarketTransitions;
import dev.bourse.capacity.NoticeOrders;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.Standing;
import dev.bourse.capacity.Terms;
import dev.bourse.core.ApiException;
import dev.bourse.nodes.Machine;
import dev.bourse.pools.Pool;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A pool's market on a virtual clock, with a {@link Player} among honest rivals. The market's pure
 * functions decide, settle and bill; machines take fixed times, so that two runs of one world
 * differ only by the player's moves. {@link PlayedRules} judges each tick.
 */
final class PlayedMarket {
  /** A rule that the model can omit, to show that the simulation detects its absence. */
  enum Fix {
    /** Bills use the ceiling that the tick read, not the current one. */
    GATE,
    /** Orders are carried out even if the cluster was written since. */
    ORDERS_BIND,
    /** An organization that gave up a seat or a node ranks last. */
    RANK_LAST,
    /** A protected node costs at most its price at the grant. */
    PRICE_LOCK,
    /** Nodes granted within an hour after the organization gave one back have no price lock. */
    LOCK_ONCE,
    /** An organization's own losing bids do not price its nodes. */
    ORG_PRICES,
    /** A gang's nodes are granted together, and the minimum at the grant governs. */
    GANGS_GATHER,
    /** A lower ceiling forgoes the notice. */
    NOTICE_FOR_OUTBID,
    /** A withdrawn notice counts for the next one. */
    NOTICES_COUNT,
    /** A held machine that does not answer is not a seat. */
    UNUSABLE_NO_SUPPLY
  }

  static final Set<Fix> ALL_FIXES = Set.of(Fix.values());

  static final long START = 472_223 * Usage.HOUR_MILLIS;
  static final long PROVISION = 80_000;
  static final long WIPE = 25_000;
  static final int GPUS = 8;
  private static final long PATIENCE = MarketConfig.GANG_PATIENCE.toMillis();

  /** The time from the gate until its orders are carried out. */
  private static final long SETTLE = 300;

  /** A machine that was silent when it was taken back is repaired after this. */
  private static final long REPAIR = 1_800_000;

  static final String PLAYER_ORG = "player";

  final PlayedWorld world;
  final Pool pool = Sample.POOL;
  final Map<String, Cluster> clusters = new TreeMap<>();
  final Map<String, Node> nodes = new LinkedHashMap<>();
  final Map<String, PlayedBooks> books = new TreeMap<>();
  final PlayedRules rules;
  private final Player player;
  private final Set<Fix> fixes;

  /** The start of each silent machine's silence, by machine. */
  private final Map<String, Long> silent = new HashMap<>();

  private final SwapExclusions swapped = new SwapExclusions(List.of());
  private final Leavers leavers = new Leavers(Map.of());
  private final PriorityQueue<Due> due =
      new PriorityQueue<>(
          (a, b) -> a.at == b.at ? Long.compare(a.order, b.order) : Long.compare(a.at, b.at));
  private long now = START;
  private long nextGate;
  private long deadline;
  private boolean isChanged = true;
  private long events;
  private int ticks;
  private int allocations;
  private @Nullable Long admissionCents;
  private List<String> freeAfterTick = List.of();

  private record Due(long at, long order, Runnable what) {}

  private PlayedMarket(PlayedWorld world, Player player, Set<Fix> fixes) {
    this.world = world;
    this.player = player;
    this.fixes = fixes.isEmpty() ? EnumSet.noneOf(Fix.class) : EnumSet.copyOf(fixes);
    this.rules = new PlayedRules(this);
    for (int i = 0; i < world.nodes(); i++) {
      String id = "n" + i;
      nodes.put(id, new Node(new Machine(id, Sample.ip(i), 22, null), false, 0, 0, null));
    }
    nextGate = START + world.tickMillis();
  }

  /** Plays a day and returns its result. */
  static PlayedResult play(PlayedWorld world, Player player, Set<Fix> fixes) {
    PlayedMarket market = new PlayedMarket(world, player, fixes);
    market.run();
    return market.rules.result();
  }

  static String rival(int i) {
    return "rival-" + i;
  }

  /** Returns the player's cluster of this number. */
  static String own(int cluster) {
    return "player-" + cluster;
  }

  static boolean isPlayers(Cluster cluster) {
    return cluster.name().startsWith("player-");
  }

  long now() {
    return now;
  }

  long end() {
    return START + world.hours() * Usage.HOUR_MILLIS;
  }

  int ticks() {
    return ticks;
  }

  boolean has(Fix fix) {
    return fixes.contains(fix);
  }

  boolean isSilent(String nodeId) {
    return silent.containsKey(nodeId);
  }

  private void at(long millis, Runnable what) {
    if (millis < end()) {
      due.add(new Due(millis, events++, what));
    }
  }

  private void run() {
    at(nextGate, this::tick);
    for (int i = 0; i < world.rivals().size(); i++) {
      String name = rival(i);
      clusters.put(name, created(name, name));
      PlayedWorld.Rival rival = world.rivals().get(i);
      at(START + 1_000 + i + rival.arrivesAtMillis(), () -> arrive(name, rival));
    }
    at(START + 2_000 + world.arrivesAtMillis(), this::start);
    while (!due.isEmpty()) {
      Due next = due.remove();
      now = next.at;
      next.what.run();
    }
    now = end();
  }

  private static Cluster created(String name, String org) {
    return Cluster.created(name, org, Sample.POOL.name(), Cluster.Kind.VM, Cluster.Posture.MARKET);
  }

  private void arrive(String name, PlayedWorld.Rival rival) {
    declare(name, rival.valueCents(), rival.demand(), rival.least());
    if (rival.stays() > 0) {
      at(now + rival.stays(), () -> leave(name, rival));
    }
  }

  private void leave(String name, PlayedWorld.Rival rival) {
    declare(name, rival.valueCents(), 0, 1);
    at(now + rival.away(), () -> arrive(name, rival));
  }

  private void start() {
    for (int i = 0; i < Player.CLUSTERS; i++) {
      String org = i == Player.PARTNER ? PLAYER_ORG + "-partner" : PLAYER_ORG;
      if (isUsed(i)) {
        clusters.put(own(i), created(own(i), org));
      }
    }
    player.starts().forEach(start -> declare(start.cluster(), start.bid()));
    for (Player.Move move : player.moves()) {
      // The first gate that the move can precede.
      long gate = nextGate + (nextGate + move.offsetMillis() <= now ? world.tickMillis() : 0);
      long phase = (gate - START) / world.tickMillis() % move.every();
      long wait = Math.floorMod(move.phase() - phase, (long) move.every());
      at(gate + wait * world.tickMillis() + move.offsetMillis(), () -> repeat(move));
    }
  }

  private boolean isUsed(int cluster) {
    return player.starts().stream().anyMatch(start -> start.cluster() == cluster)
        || player.moves().stream().anyMatch(move -> move.cluster() == cluster);
  }

  private void repeat(Player.Move move) {
    at(now + move.every() * world.tickMillis(), () -> repeat(move));
    Cluster cluster = clusters.get(own(move.cluster()));
    if (cluster != null && applies(move.when(), cluster)) {
      act(move, cluster);
    }
  }

  private boolean applies(Player.When when, Cluster cluster) {
    List<Allocation> held = open(cluster);
    return switch (when) {
      case ALWAYS -> true;
      case HOLDS_NONE -> held.isEmpty();
      case HOLDS_ANY -> !held.isEmpty();
      case HOLDS_DEMAND -> held.size() >= world.demand();
      case NOTICED -> held.stream().anyMatch(a -> a.notice() != null);
      case NOTICE_ENDS -> held.stream().anyMatch(this::isEnding);
      case NOT_NOTICED -> !held.isEmpty() && held.stream().allMatch(a -> a.notice() == null);
      case AWAITS -> cluster.standing().awaitedSlots() > 0;
      case PROVISIONING -> held.stream().anyMatch(a -> a.state() == Allocation.State.PROVISIONING);
      case ALL_ACTIVE ->
          !held.isEmpty() && held.stream().allMatch(a -> a.state() == Allocation.State.ACTIVE);
      case UNPROTECTED ->
          !held.isEmpty()
              && held.stream().noneMatch(a -> a.isShielded(now, cluster.ceilingCents()));
      case PROTECTED ->
          !held.isEmpty() && held.stream().allMatch(a -> a.isShielded(now, cluster.ceilingCents()));
      case RIVAL_WAITS ->
          clusters.values().stream().anyMatch(c -> !isPlayers(c) && c.pending(GPUS) > 0);
      case NODE_FREE -> !freeAfterTick.isEmpty();
    };
  }

  private boolean isEnding(Allocation a) {
    Allocation.Notice notice = a.notice();
    return notice != null && notice.endsAtMillis() <= nextGate;
  }

  static List<Allocation> open(Cluster cluster) {
    List<Allocation> open = new ArrayList<>();
    for (Allocation a : cluster.allocations()) {
      if (a.isOpen()) {
        open.add(a);
      }
    }
    return open;
  }

  private void act(Player.Move move, Cluster cluster) {
    switch (move.deed()) {
      case DECLARE -> declare(move.cluster(), move.bid());
      case SWAP -> swap(cluster);
      case SILENCE -> open(cluster).forEach(a -> silence(a, true));
      case SILENCE_NEXT ->
          cluster.releaseOrder().stream().findFirst().ifPresent(a -> silence(a, true));
      case ANSWER -> open(cluster).forEach(a -> silence(a, false));
      case TOUCH -> write(cluster.name(), DirectChange.armWrites(true));
    }
  }

  private void silence(Allocation a, boolean isSilent) {
    if (a.state() == Allocation.State.ACTIVE
        && (isSilent
            ? silent.putIfAbsent(a.nodeId(), now) == null
            : silent.remove(a.nodeId()) != null)) {
      isChanged = true;
    }
  }

  private void swap(Cluster cluster) {
    for (Allocation a : open(cluster)) {
      String ip = a.publicIp();
      if (ip != null && a.fillsSlot() && !a.isSwapping()) {
        attempt(cluster.name(), (c, at) -> Capacity.swap(c, Sample.ACTOR, ip, terms(), at));
        return;
      }
    }
  }

  private void declare(int index, Player.Bid bid) {
    Cluster cluster = Objects.requireNonNull(clusters.get(own(index)));
    int slots = slots(cluster, bid.size());
    int least =
        switch (bid.least()) {
          case NONE -> 1;
          case ALL -> Math.max(1, slots);
          case TWO -> Math.min(2, Math.max(1, slots));
        };
    declare(cluster.name(), cents(cluster, bid.price()), slots, least);
  }

  private int slots(Cluster cluster, Player.Size size) {
    return switch (size) {
      case ALL -> world.demand();
      case HALF -> (world.demand() + 1) / 2;
      case REST -> world.demand() / 2;
      case ONE -> 1;
      case TWO -> 2;
      case ZERO -> 0;
      case HELD -> cluster.filledSlots();
      case POOL -> world.nodes();
      case BEYOND -> 2 * world.nodes();
    };
  }

  private long cents(Cluster cluster, Player.Price price) {
    long rival = pool.reserveCents();
    long lowest = Long.MAX_VALUE;
    long own = pool.reserveCents();
    for (Cluster other : clusters.values()) {
      if (!other.orgId().equals(cluster.orgId()) && !isPlayers(other)) {
        rival = other.declaredSlots(GPUS) > 0 ? Math.max(rival, other.ceilingCents()) : rival;
        lowest = open(other).isEmpty() ? lowest : Math.min(lowest, other.ceilingCents());
      } else if (isPlayers(other) && !other.name().equals(cluster.name())) {
        own = Math.max(own, other.ceilingCents());
      }
    }
    long cents =
        switch (price) {
          case VALUE -> world.valueCents();
          case VALUE_LESS_CENT -> world.valueCents() - 1;
          case RESERVE -> pool.reserveCents();
          case RIVAL -> rival;
          case RIVAL_MORE_CENT -> rival + 1;
          case RIVAL_LESS_CENT -> rival - 1;
          case BELOW_SEATS -> lowest == Long.MAX_VALUE ? world.valueCents() : lowest - 1;
          case CAP -> pool.capCents();
          case OWN_MORE_CENT -> own + 1;
        };
    return Math.max(pool.reserveCents(), Math.min(pool.capCents(), cents));
  }

  private Terms terms() {
    return Sample.terms(pool, admissionCents, true, true, Sample.CADENCE)
        .ticking(new Terms.Ticks(nextGate, world.tickMillis()));
  }

  private void declare(String name, long cents, int slots, int least) {
    Cluster cluster = Objects.requireNonNull(clusters.get(name));
    Declaration standing = cluster.declared();
    if (standing != null
        && standing.ceilingCents() == cents
        && standing.maxGpus() == slots * GPUS
        && cluster.minimumSlots(GPUS) == least) {
      return;
    }
    Capacity.Declare order =
        Sample.order(
            slots * GPUS,
            BigDecimal.valueOf(cents, 2).toString(),
            cluster.version(),
            new JsonObject().put("min_gpus", least > 1 ? Integer.valueOf(least * GPUS) : null));
    attempt(name, (c, at) -> Capacity.declare(c, order, terms(), at));
  }

  /** Carries out a client's write; a rejected one changes nothing. */
  private void attempt(String name, Command command) {
    Cluster cluster = Objects.requireNonNull(clusters.get(name));
    if (cluster.writes().lastAtMillis() > 0
        && now - cluster.writes().lastAtMillis() < Sample.CADENCE) {
      return;
    }
    try {
      write(name, command);
    } catch (ApiException refused) {
      // Players also try moves that the contract rejects, which write nothing.
      return;
    }
  }

  /** Records the rows that the store would write. */
  private void write(String name, Command command) {
    Cluster before = Objects.requireNonNull(clusters.get(name));
    Cluster after = command.apply(before, now).next();
    if (after.revision() == before.revision()) {
      return;
    }
    isChanged = true;
    clusters.put(name, after);
    books.computeIfAbsent(name, PlayedBooks::new).note(before, after, now);
    for (Allocation a : after.allocations()) {
      Optional<Allocation> was = before.find(a.allocationId());
      if (was.isEmpty()) {
        at(now + PROVISION, () -> provisioned(name, a));
      }
      if (!a.isOpen() && was.filter(w -> !w.isOpen()).isEmpty()) {
        swapped.note(after, a);
        leavers.note(after, a);
        at(now + WIPE, () -> clean(name, a));
      }
      if (a.isReady() && Gang.isNext(after, a, GPUS)) {
        at(now + 1_000, () -> provisioned(name, a));
      }
    }
  }

  private void provisioned(String name, Allocation a) {
    String id = a.allocationId();
    Function<String, @Nullable String> addresses =
        node -> Objects.requireNonNull(nodes.get(node)).machine().publicIp();
    write(
        name,
        (cluster, at) ->
            cluster.find(id).filter(held -> held.isReady() && held.keysDue()).isPresent()
                ? MarketTransitions.keyed(cluster, id, GPUS, Sample.PROTECTION, addresses, at)
                : MarketTransitions.provisioned(
                    cluster, id, GPUS, Sample.PROTECTION, addresses, at));
  }

  private void clean(String name, Allocation a) {
    write(name, (cluster, at) -> MarketTransitions.reclaimed(cluster, a.allocationId()));
    rules.cleaned(Objects.requireNonNull(clusters.get(name)), a);
    if (silent.containsKey(a.nodeId())) {
      at(
          now + REPAIR,
          () -> {
            silent.remove(a.nodeId());
            isChanged = true;
          });
    }
  }

  private void tick() {
    nextGate = now + world.tickMillis();
    at(nextGate, this::tick);
    ticks++;
    books.values().forEach(book -> book.gate(clusters, now));
    if (isChanged || now >= deadline) {
      isChanged = false;
      clear();
      deadline = nextDeadline();
    }
    at(now + SETTLE + 1, rules::judgeStanding);
  }

  /** Returns the next time at which a tick's decision changes although no cluster does. */
  private long nextDeadline() {
    long next = Long.MAX_VALUE;
    for (Cluster c : clusters.values()) {
      next = earlier(next, later(c.standing().gaveUpAtMillis(), Standing.LAST_MILLIS));
      next = earlier(next, later(c.setbacks().gangUnwoundAtMillis(), PATIENCE));
      for (Allocation a : c.allocations()) {
        Allocation.Notice notice = a.notice();
        next = earlier(next, a.protectedUntilMillis());
        next = earlier(next, notice == null ? null : notice.endsAtMillis());
        next = earlier(next, later(a.swapRequestedAtMillis(), Sample.FRESHNESS));
        next = earlier(next, a.activeAtMillis() == null ? a.grantedAtMillis() + PATIENCE : null);
      }
    }
    return next;
  }

  private static @Nullable Long later(@Nullable Long millis, long by) {
    return millis == null ? null : Long.valueOf(millis + by);
  }

  private long earlier(long next, @Nullable Long other) {
    return other == null || other <= now ? next : Math.min(next, other);
  }

  Tick tickOf(Collection<Cluster> seen) {
    List<ClusterView> views = Sample.views(pool, seen);
    return new Tick(
        pool,
        views,
        Sample.FRESHNESS,
        Patience.of(PATIENCE),
        SpendingAllowance.UNLIMITED,
        Notices.at(world.noticeMillis(), now),
        now);
  }

  private Cluster seen(Cluster cluster) {
    Cluster seen = has(Fix.RANK_LAST) ? cluster : DirectChange.neverGaveUp(cluster);
    seen = has(Fix.NOTICES_COUNT) ? seen : DirectChange.withoutWithdrawnNotices(seen);
    return has(Fix.NOTICE_FOR_OUTBID) ? seen : DirectChange.withoutSeatCeilings(seen);
  }

  private void clear() {
    List<Cluster> seen = clusters.values().stream().map(this::seen).toList();
    Tick.Nodes machines = machines();
    Tick.Outcome outcome = tickOf(seen).decide(machines);
    Clearing clearing = outcome.clearing();
    admissionCents = clearing.admissionCents();
    Long uniform = has(Fix.ORG_PRICES) ? null : highestLosing(seen, clearing);
    for (Cluster cluster : seen) {
      Long cents = clearing.centsOf(cluster.orgId());
      books
          .computeIfAbsent(cluster.name(), PlayedBooks::new)
          .price(now, cents == null || uniform == null ? cents : uniform);
    }
    Map<String, Long> revisions = new HashMap<>();
    clusters.forEach((name, cluster) -> revisions.put(name, cluster.revision()));
    Set<String> granted = new HashSet<>();
    clearing.grants().forEach(grant -> granted.add(grant.nodeId()));
    List<String> free = new ArrayList<>();
    for (Supply.FreeNode node : outcome.supply().free()) {
      if (!granted.contains(node.nodeId())) {
        free.add(node.nodeId());
      }
    }
    freeAfterTick = List.copyOf(free);
    rules.judge(outcome, seen, machines);
    at(now + SETTLE, () -> settle(outcome, revisions, free));
  }

  private Tick.Nodes machines() {
    Set<String> held = new HashSet<>();
    clusters.values().forEach(c -> open(c).forEach(a -> held.add(a.nodeId())));
    List<Node> found = new ArrayList<>();
    nodes
        .values()
        .forEach(
            node -> {
              boolean isHidden = !has(Fix.UNUSABLE_NO_SUPPLY) && held.contains(node.nodeId());
              found.add(node.found(isHidden ? null : silent.get(node.nodeId())));
            });
    return new Tick.Nodes(
        found, Set.of(), swapped.at(now), has(Fix.LOCK_ONCE) ? leavers.at(now) : Set.of());
  }

  /** Returns one price for all: the highest losing bid of any organization. */
  private long highestLosing(List<Cluster> seen, Clearing clearing) {
    long highest = pool.reserveCents();
    for (Cluster cluster : seen) {
      if (clearing.unseated().getOrDefault(cluster.name(), 0) > 0) {
        highest = Math.max(highest, cluster.ceilingCents());
      }
    }
    return highest;
  }

  private void settle(Tick.Outcome outcome, Map<String, Long> revisions, List<String> free) {
    outcome
        .decided()
        .forEach(
            (name, decided) -> {
              Cluster before = Objects.requireNonNull(clusters.get(name));
              MarketTransitions.Orders orders = orders(decided);
              if (has(Fix.ORDERS_BIND) || Objects.equals(revisions.get(name), before.revision())) {
                write(name, (cluster, at) -> MarketTransitions.settle(cluster, orders, at));
              }
              rules.judge(before, orders, Objects.requireNonNull(clusters.get(name)));
            });
    if (!has(Fix.GANGS_GATHER)) {
      handOut(free);
    }
  }

  private MarketTransitions.Orders orders(Tick.ClusterDecision decided) {
    List<MarketTransitions.Orders.Grant> grants = new ArrayList<>();
    for (Clearing.Grant grant : decided.grants()) {
      int minimum = decided.minimumSlots(grant);
      grants.add(grant(grant.nodeId(), grant.replaces(), minimum));
    }
    return decided.orders(grants, GPUS, Sample.FRESHNESS);
  }

  private MarketTransitions.Orders.Grant grant(
      String node, @Nullable String replaces, int minimum) {
    return new MarketTransitions.Orders.Grant(
        "a" + allocations++,
        node,
        Objects.requireNonNull(nodes.get(node)).machine().publicIp(),
        replaces,
        List.of("key"),
        // Without the fix, the minimum that is declared when a node is ready governs.
        minimum > 1 && !has(Fix.GANGS_GATHER) ? Integer.MAX_VALUE : minimum);
  }

  /** Grants gangs each free node at once. */
  private void handOut(List<String> free) {
    List<String> left = new ArrayList<>(free);
    for (Cluster cluster : List.copyOf(clusters.values())) {
      int awaited = cluster.standing().awaitedSlots();
      int minimum = cluster.minimumSlots(GPUS);
      List<MarketTransitions.Orders.Grant> grants = new ArrayList<>();
      while (minimum > 1 && grants.size() < awaited && !left.isEmpty()) {
        grants.add(grant(left.remove(0), null, minimum));
      }
      if (!grants.isEmpty()) {
        MarketTransitions.Orders orders =
            new MarketTransitions.Orders(
                new Standing.Gate(
                    cluster.ceilingCents(),
                    Objects.requireNonNull(cluster.declared()).pricedAtMillis(),
                    now),
                cluster.version(),
                GPUS,
                pool.reserveCents(),
                cluster.filledSlots() + awaited,
                grants,
                Set.of(),
                List.of(),
                NoticeOrders.NONE,
                cluster.verdict(),
                Sample.FRESHNESS,
                null,
                false);
        write(cluster.name(), (c, at) -> MarketTransitions.settle(c, orders, at));
      }
    }
  }

  /** Returns the ceilings of a cluster that its bill uses. */
  List<Usage.ChangePoint> ceilings(PlayedBooks book) {
    return has(Fix.GATE)
        ? PricesInForce.ceilings(book.reads, book.declared)
        : book.declared.stream()
            .map(one -> new Usage.ChangePoint(one.atMillis(), one.cents()))
            .toList();
  }
}
