package dev.bourse.market;

import dev.bourse.auction.Auction;
import dev.bourse.auction.Bidder;
import dev.bourse.auction.Clearing;
import dev.bourse.auction.Supply;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.Gang;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.MarketTransitions;
import dev.bourse.capacity.NoticeOrders;
import dev.bourse.capacity.Standing;
import dev.bourse.capacity.TickPreview;
import dev.bourse.capacity.Verdict;
import dev.bourse.pools.Demand;
import dev.bourse.pools.Pool;
import dev.bourse.pools.Rivalry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One clearing of a pool. Its input is the state of clusters and nodes, its output the orders for
 * the clusters that change. Pure, so that it can run off the event loop.
 */
final class Tick {
  /** Consecutive unwound grants after which a cluster's verdict is that capacity is unavailable. */
  private static final int FAILURES_MEANING_UNAVAILABLE = 3;

  /**
   * A held machine that does not answer is not supply, so it keeps out a gang that needs it. After
   * this time the gang's bid counts as if the machine answered.
   */
  static final long SILENT_MILLIS = 3_600_000;

  private static final Comparator<Cluster> HIGHEST_FIRST =
      Comparator.comparingLong(Cluster::ceilingCents).reversed().thenComparing(Cluster::name);

  private final Pool pool;
  private final long nowMillis;
  private final long swapFreshnessMillis;
  private final Patience patience;
  private final SpendingAllowance allowance;
  private final Notices notices;
  private final List<Cluster> clusters;
  private final Map<String, Integer> affordable;

  /**
   * Organizations that gave up a seat or refused a node within the last ten minutes while another
   * organization waits for nodes.
   */
  private final Set<String> last;

  /** Organizations of which a Kubernetes cluster refused a node within the last ten minutes. */
  private final Set<String> refusing;

  /** Organizations of which a Kubernetes cluster refused a node, and none has joined it since. */
  private final Set<String> probing;

  /** Grants of minimums that were not completed in time. The tick reads clusters without them. */
  private final Map<String, List<Allocation>> overdue = new HashMap<>();

  /**
   * The nodes of a tick.
   *
   * @param nodes the pool's nodes
   * @param busy nodes without a holder that are being cleaned, and nodes that have not reported
   *     their allocation; they are supply but cannot be granted yet
   * @param excluded the organization that swapped a node away within the last hour, by node
   * @param leavers organizations that gave back a node within the last hour
   */
  record Nodes(
      Collection<Node> nodes, Set<String> busy, Map<String, String> excluded, Set<String> leavers) {
    Nodes(Collection<Node> nodes, Set<String> busy, Map<String, String> excluded) {
      this(nodes, busy, excluded, Set.of());
    }
  }

  /** The decisions: prices, supply, the decision for each changed cluster, and the bids. */
  record Outcome(
      Clearing clearing,
      Supply supply,
      Map<String, ClusterDecision> decided,
      Demand demand,
      Rivalry rivalry) {}

  /**
   * The decision for one cluster; see {@link MarketTransitions.Orders}.
   *
   * @param lockCents the price lock of granted nodes; null for none
   * @param minimumSlots the number of its nodes that must be ready before granted nodes become
   *     active
   */
  record ClusterDecision(
      Standing.Gate gate,
      long seenVersion,
      @Nullable Long lockCents,
      int seats,
      int minimumSlots,
      List<Clearing.Grant> grants,
      Set<String> losing,
      List<MarketTransitions.Orders.Taken> reclaims,
      NoticeOrders notices,
      Verdict verdict,
      Optional<MarketTransitions.Orders.Alerted> alerted,
      boolean hasGivenUp) {

    /**
     * Returns the order for the cluster's owner.
     *
     * @param granted the grants, with their ids and keys
     */
    MarketTransitions.Orders orders(
        List<MarketTransitions.Orders.Grant> granted, int gpusPerNode, long swapFreshnessMillis) {
      return new MarketTransitions.Orders(
          gate,
          seenVersion,
          gpusPerNode,
          lockCents,
          seats,
          granted,
          losing,
          reclaims,
          notices,
          verdict,
          swapFreshnessMillis,
          alerted.orElse(null),
          hasGivenUp);
    }

    /**
     * Returns the decision with the organizations that outbid its nodes.
     *
     * @param evictors organizations, by the id of the outbid allocation
     */
    ClusterDecision with(Map<String, String> evictors) {
      return new ClusterDecision(
          gate,
          seenVersion,
          lockCents,
          seats,
          minimumSlots,
          grants,
          losing,
          reclaims.stream()
              .map(
                  taken ->
                      new MarketTransitions.Orders.Taken(
                          taken.allocationId(), taken.reason(), evictors.get(taken.allocationId())))
              .toList(),
          notices,
          verdict,
          alerted,
          hasGivenUp);
    }

    /** Returns how many nodes must be ready before a granted node becomes active. */
    int minimumSlots(Clearing.Grant grant) {
      return grant.replaces() == null ? minimumSlots : 1;
    }
  }

  /** Creates the tick of a pool without notices and limits. */
  Tick(Pool pool, Collection<ClusterView> views, long swapFreshnessMillis, long nowMillis) {
    this(pool, views, swapFreshnessMillis, SpendingAllowance.UNLIMITED, nowMillis);
  }

  /** Creates the tick of a pool without notices, with the default time for minimums. */
  Tick(
      Pool pool,
      Collection<ClusterView> views,
      long swapFreshnessMillis,
      SpendingAllowance allowance,
      long nowMillis) {
    this(
        pool,
        views,
        swapFreshnessMillis,
        Patience.of(MarketConfig.GANG_PATIENCE.toMillis()),
        allowance,
        Notices.at(0, nowMillis),
        nowMillis);
  }

  /**
   * @param patience the time in which a minimum must become active
   * @param allowance the amounts that organizations may still commit to; clusters do not bid for
   *     slots that they cannot afford
   * @param notices the rules for nodes that lose their seats
   */
  Tick(
      Pool pool,
      Collection<ClusterView> views,
      long swapFreshnessMillis,
      Patience patience,
      SpendingAllowance allowance,
      Notices notices,
      long nowMillis) {
    this(
        pool,
        allowance,
        notices,
        swapFreshnessMillis,
        patience,
        nowMillis,
        views.stream().map(ClusterView::cluster).toList());
  }

  private Tick(
      Pool pool,
      SpendingAllowance allowance,
      Notices notices,
      long swapFreshnessMillis,
      Patience patience,
      long nowMillis,
      List<Cluster> standing) {
    this.pool = pool;
    this.patience = patience;
    this.allowance = allowance;
    this.notices = notices;
    this.swapFreshnessMillis = swapFreshnessMillis;
    this.nowMillis = nowMillis;
    this.clusters = standing.stream().map(this::seen).toList();
    this.affordable = allowance.affordable(clusters, pool.gpusPerNode());
    this.refusing =
        orgsOf(refusedAt -> refusedAt <= nowMillis && nowMillis < refusedAt + Standing.LAST_MILLIS);
    this.probing = orgsOf(refusedAt -> true);
    Set<String> waiting =
        clusters.stream()
            .filter(
                cluster ->
                    !refusing.contains(cluster.orgId())
                        && SpendingAllowance.buys(cluster, pool.gpusPerNode())
                        && cluster.ceilingCents() >= pool.reserveCents())
            .map(Cluster::orgId)
            .collect(Collectors.toUnmodifiableSet());
    this.last =
        clusters.stream()
            .filter(cluster -> cluster.standing().ranksLast(nowMillis))
            .map(Cluster::orgId)
            .filter(org -> waiting.size() > (waiting.contains(org) ? 1 : 0))
            .collect(Collectors.toUnmodifiableSet());
  }

  private Set<String> orgsOf(LongPredicate refusedAt) {
    return clusters.stream()
        .filter(
            cluster -> {
              Long at = cluster.setbacks().joinRefusedAtMillis();
              return at != null && refusedAt.test(at);
            })
        .map(Cluster::orgId)
        .collect(Collectors.toUnmodifiableSet());
  }

  private Cluster seen(Cluster cluster) {
    List<Allocation> late =
        // A minimum does not time out while the market cannot grant its missing nodes.
        patience.isClockDoubted() || pool.isPaused()
            ? List.of()
            : Gang.overdue(cluster, pool.gpusPerNode(), patience.millis(), nowMillis);
    if (late.isEmpty()) {
      return cluster;
    }
    overdue.put(cluster.name(), late);
    return Gang.unwound(cluster, late, nowMillis);
  }

  /** Returns the same tick with one cluster in a changed state. */
  Tick with(Cluster changed) {
    return new Tick(
        pool,
        allowance,
        notices,
        swapFreshnessMillis,
        patience,
        nowMillis,
        // In its current state, the cluster may not take part in ticks.
        Stream.concat(
                clusters.stream().filter(cluster -> !cluster.name().equals(changed.name())),
                Stream.of(changed))
            .toList());
  }

  /** Returns the preview of an outcome for one of the clusters. */
  TickPreview preview(Cluster cluster, Outcome outcome) {
    Clearing clearing = outcome.clearing();
    Set<String> losing = new HashSet<>();
    overdue.getOrDefault(cluster.name(), List.of()).forEach(a -> losing.add(a.allocationId()));
    for (Clearing.Reclaim reclaim : clearing.reclaims()) {
      if (reclaim.cluster().equals(cluster.name())) {
        losing.add(reclaim.allocationId());
      }
    }
    Set<String> lost = new HashSet<>();
    ClusterDecision decided = outcome.decided().get(cluster.name());
    if (decided != null) {
      decided.reclaims().forEach(taken -> lost.add(taken.allocationId()));
    }
    Map<String, OptionalLong> noticed = new HashMap<>();
    for (String id : losing) {
      if (!lost.contains(id)) {
        noticed.put(id, noticeEnd(cluster, id, decided));
      }
    }
    int granted = 0;
    for (Clearing.Grant grant : clearing.grants()) {
      granted += grant.cluster().equals(cluster.name()) && grant.replaces() == null ? 1 : 0;
    }
    int held = cluster.filledSlots();
    int declared = Math.max(cluster.declaredSlots(pool.gpusPerNode()), held);
    int seated = bids(cluster) - clearing.unseated().getOrDefault(cluster.name(), 0);
    return new TickPreview(
        seated - (held - losing.size()),
        granted,
        declared - seated,
        minimumMissed(clearing.shortfalls().get(cluster.name())),
        lost,
        noticed,
        clearing.centsOf(cluster.orgId()),
        clearing.admissionCents(),
        pool.isPaused(),
        nowMillis);
  }

  /** Returns the preview of an outcome for one of the clusters, and the cluster after it. */
  OutlookSearch.Step step(Cluster cluster, Outcome outcome) {
    ClusterDecision decided = outcome.decided().get(cluster.name());
    TickPreview preview = preview(cluster, outcome);
    return new OutlookSearch.Step(
        preview,
        decided == null
            ? cluster
            : MarketTransitions.settle(
                    cluster,
                    decided.orders(List.of(), pool.gpusPerNode(), swapFreshnessMillis),
                    nowMillis)
                .next(),
        bids(cluster) >= cluster.declaredSlots(pool.gpusPerNode()));
  }

  /** Returns when an allocation's notice ends: the one this tick gives, or the one that runs. */
  private static OptionalLong noticeEnd(
      Cluster cluster, String id, @Nullable ClusterDecision decided) {
    Allocation.Notice given = decided == null ? null : decided.notices().given().get(id);
    Allocation.Notice notice =
        given != null ? given : cluster.find(id).map(Allocation::notice).orElse(null);
    return notice == null ? OptionalLong.empty() : OptionalLong.of(notice.endsAtMillis());
  }

  /**
   * Returns the slots that a cluster bids for. It does not bid for slots that it cannot afford, so
   * these neither win nor lose.
   */
  int bids(Cluster cluster) {
    Cluster seen = seen(cluster);
    int held = seen.filledSlots();
    return Math.max(slots(seen, held), held);
  }

  private static TickPreview.@Nullable MinimumMissed minimumMissed(
      Clearing.@Nullable Shortfall shortfall) {
    return shortfall == null
        ? null
        : switch (shortfall) {
          case PRICE -> TickPreview.MinimumMissed.PRICE;
          case SIZE -> TickPreview.MinimumMissed.SIZE;
        };
  }

  /** Decides without a stored clearing price, if the market is not paused. */
  Outcome decide(Nodes nodes) {
    return decide(nodes, Optional.empty());
  }

  /**
   * Clears the pool and decides about each cluster.
   *
   * @param standingCents the last stored clearing price, which a paused market keeps; empty for
   *     none
   */
  Outcome decide(Nodes nodes, Optional<Long> standingCents) {
    Set<String> usable = new HashSet<>();
    for (Node node : nodes.nodes()) {
      if (node.isUsable(nowMillis)) {
        usable.add(node.nodeId());
      }
    }
    List<Bidder> bidders = new ArrayList<>(clusters.size());
    clusters.forEach(cluster -> bidders.add(bidder(cluster, usable)));
    Supply supply = supply(nodes, usable);
    Clearing clearing =
        priced(
            pool.isPaused()
                ? paused(bidders, standingCents)
                : withSilentLost(clear(bidders, supply), bidders, supply, silent(nodes)));
    Demand demand = demand(bidders);
    Rivalry rivalry = rivalry(bidders);
    AlertWatch alerts =
        new AlertWatch(
            clearing, supply.seats(), demand, rivalry, allowance.budgets().spent(), nowMillis);
    Map<String, ClusterDecision> decided = changed(clearing, alerts, nodes.leavers());
    return new Outcome(clearing, supply, decided, demand, rivalry);
  }

  private Clearing clear(List<Bidder> bidders, Supply supply) {
    return Auction.clear(pool.reserveCents(), pool.capCents(), bidders, supply);
  }

  /** Returns the allocations whose machines have been silent for too long. */
  private Set<String> silent(Nodes nodes) {
    Set<String> silentNodes = new HashSet<>();
    for (Node node : nodes.nodes()) {
      if (node.isSilentFor(SILENT_MILLIS, nowMillis)) {
        silentNodes.add(node.nodeId());
      }
    }
    if (silentNodes.isEmpty()) {
      return Set.of();
    }
    return clusters.stream()
        .flatMap(cluster -> cluster.allocations().stream())
        .filter(a -> a.isOpen() && a.fillsSlot() && silentNodes.contains(a.nodeId()))
        .map(Allocation::allocationId)
        .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Adds the reclaims of silent machines that keep out a gang and that their holders would lose to
   * the gang if the machines answered. A holder loses no more nodes than it would lose then. A
   * machine that cannot be granted is lost to single bids only by {@link Auction}'s own rule,
   * silent or not. Without this rule a holder that stops its machine's ssh server would keep the
   * gang out for good. No price changes, because the gang does not win yet.
   */
  private Clearing withSilentLost(
      Clearing clearing, List<Bidder> bidders, Supply supply, Set<String> silent) {
    if (silent.isEmpty() || clearing.shortfalls().isEmpty()) {
      return clearing;
    }
    Clearing answering =
        clear(
            bidders.stream().map(bidder -> answering(bidder, silent)).toList(),
            new Supply(supply.seats() + silent.size(), supply.free()));
    if (answering.shortfalls().keySet().containsAll(clearing.shortfalls().keySet())) {
      return clearing;
    }
    // A cluster that wins new seats at this tick loses none at it; the next tick decides again.
    Set<String> growing =
        bidders.stream()
            .filter(
                bidder ->
                    bidder.declaredSlots() - clearing.unseated().getOrDefault(bidder.cluster(), 0)
                        > bidder.held().size())
            .map(Bidder::cluster)
            .collect(Collectors.toUnmodifiableSet());
    List<Clearing.Reclaim> reclaims = new ArrayList<>(clearing.reclaims());
    Map<String, Integer> unseated = new HashMap<>(clearing.unseated());
    // The nodes that the cluster already loses to other bids count.
    Map<String, Integer> due = new HashMap<>();
    answering.reclaims().forEach(reclaim -> due.merge(reclaim.cluster(), 1, Integer::sum));
    clearing.reclaims().forEach(reclaim -> due.merge(reclaim.cluster(), -1, Integer::sum));
    for (Clearing.Reclaim reclaim : answering.reclaims()) {
      if (silent.contains(reclaim.allocationId())
          && !growing.contains(reclaim.cluster())
          && due.getOrDefault(reclaim.cluster(), 0) > 0
          && !clearing.reclaims().contains(reclaim)) {
        reclaims.add(reclaim);
        unseated.merge(reclaim.cluster(), 1, Integer::sum);
        due.merge(reclaim.cluster(), -1, Integer::sum);
      }
    }
    return new Clearing(
        clearing.clearingCents(),
        clearing.orgCents(),
        clearing.admissionCents(),
        clearing.grants(),
        reclaims,
        unseated,
        clearing.shortfalls());
  }

  /**
   * Returns the bid if these machines answered. They are released first, also if the holder
   * nominated others.
   */
  private static Bidder answering(Bidder bidder, Set<String> silent) {
    if (bidder.held().stream().noneMatch(node -> silent.contains(node.allocationId()))) {
      return bidder;
    }
    List<Bidder.Held> held = new ArrayList<>();
    for (Bidder.Held node : bidder.held()) {
      if (silent.contains(node.allocationId())) {
        held.add(new Bidder.Held(node.allocationId(), node.shielded(), true));
      }
    }
    bidder.held().stream().filter(node -> !silent.contains(node.allocationId())).forEach(held::add);
    return new Bidder(
        bidder.cluster(),
        bidder.org(),
        bidder.ceilingCents(),
        bidder.pricedAtMillis(),
        bidder.declaredSlots(),
        bidder.minimumSlots(),
        bidder.participation(),
        bidder.ranksLast(),
        held,
        bidder.swapsAwaiting());
  }

  /**
   * Returns the clearing of a paused market: holders keep their nodes at the price in force, and no
   * price wins a node.
   */
  private Clearing paused(List<Bidder> bidders, Optional<Long> standingCents) {
    Map<String, Integer> unseated = new HashMap<>();
    for (Bidder bidder : bidders) {
      int held = bidder.held().size();
      if (bidder.declaredSlots() > held) {
        unseated.put(bidder.cluster(), bidder.declaredSlots() - held);
      }
    }
    return new Clearing(
        standingCents.orElse(null), Map.of(), null, List.of(), List.of(), unseated, Map.of());
  }

  /**
   * Keeps a price while a node is held even if no bid has a seat, because a usable node must be
   * billed. This happens if a reserve price above all ceilings ends every seat at once while the
   * nodes are reclaimed later.
   */
  private Clearing priced(Clearing clearing) {
    boolean isAnyHeld =
        clearing.clearingCents() == null
            && clusters.stream()
                .anyMatch(c -> c.allocations().stream().anyMatch(Allocation::isOpen));
    return isAnyHeld
        ? new Clearing(
            pool.reserveCents(),
            clearing.orgCents(),
            clearing.admissionCents(),
            clearing.grants(),
            clearing.reclaims(),
            clearing.unseated(),
            clearing.shortfalls())
        : clearing;
  }

  /** Returns the demand. Bids below the reserve price lapse, and operators' clusters do not bid. */
  private Demand demand(List<Bidder> bidders) {
    List<Demand.Bid> bids = new ArrayList<>();
    for (Bidder bidder : bidders) {
      if (bidder.ceilingCents() >= pool.reserveCents()) {
        switch (bidder.participation()) {
          case OPEN -> bids.add(new Demand.Bid(bidder.ceilingCents(), bidder.declaredSlots()));
          case INCUMBENTS_ONLY ->
              bids.add(new Demand.Bid(bidder.ceilingCents(), bidder.held().size()));
          case EVICTED, STATIC -> {}
        }
      }
    }
    return Demand.of(bids, pool.reserveCents());
  }

  /** Returns the rivalry among bids that may win nodes; no other bid can take a node. */
  private Rivalry rivalry(List<Bidder> bidders) {
    Rivalry rivalry = Rivalry.NONE;
    for (Bidder bidder : bidders) {
      if (bidder.participation() == Bidder.Participation.OPEN
          && bidder.declaredSlots() > 0
          && bidder.ceilingCents() >= pool.reserveCents()) {
        rivalry = rivalry.with(bidder.org(), bidder.ceilingCents());
      }
    }
    return rivalry.inSteps(pool.reserveCents());
  }

  private Bidder bidder(Cluster cluster, Set<String> usable) {
    List<Bidder.Held> held = new ArrayList<>();
    for (Allocation a : Notices.takingOrder(cluster)) {
      held.add(
          new Bidder.Held(
              a.allocationId(),
              a.isShielded(nowMillis, cluster.ceilingCents()),
              usable.contains(a.nodeId())));
    }
    return new Bidder(
        cluster.name(),
        cluster.orgId(),
        cluster.ceilingCents(),
        cluster.declared() == null ? 0 : cluster.declared().pricedAtMillis(),
        Math.max(slots(cluster, held.size()), held.size()),
        cluster.minimumSlots(pool.gpusPerNode()),
        participation(cluster),
        last.contains(cluster.orgId()),
        held,
        refusing.contains(cluster.orgId()) ? List.of() : swaps(cluster));
  }

  /** Returns the nodes that a cluster wants to swap, in the order of its requests. */
  private List<String> swaps(Cluster cluster) {
    List<Allocation> swapping = new ArrayList<>();
    for (Allocation a : cluster.allocations()) {
      if (a.isOpen()
          && a.isSwapping()
          && !a.pinned()
          && !isLapsed(a)
          && cluster.allocations().stream().noneMatch(r -> isReplacementOf(r, a))) {
        swapping.add(a);
      }
    }
    swapping.sort(Comparator.comparing(Allocation::swapRequestedAtMillis));
    return swapping.stream().map(Allocation::allocationId).toList();
  }

  /**
   * Returns the declared slots that a cluster can afford; one that {@linkplain #standsBack stands
   * back} gets no new ones.
   */
  private int slots(Cluster cluster, int held) {
    if (standsBack(cluster)) {
      return held;
    }
    int declared = cluster.declaredSlots(pool.gpusPerNode());
    if (cluster.kind() == Cluster.Kind.K8S && probing.contains(cluster.orgId())) {
      declared = Math.min(declared, probe(cluster, held));
    }
    Integer more = affordable.get(cluster.name());
    return more == null ? declared : Math.min(declared, held + more);
  }

  /**
   * Returns the slots with which a cluster tries whether a node joins: one more, or its minimum.
   */
  private int probe(Cluster cluster, int held) {
    boolean isTrying =
        cluster.allocations().stream()
            .anyMatch(a -> a.state() == Allocation.State.PROVISIONING && a.replaces() == null);
    return isTrying ? held : Math.max(held + 1, cluster.minimumSlots(pool.gpusPerNode()));
  }

  /**
   * True if a cluster does not bid for new nodes: a gang for a time after an unwound minimum, and
   * every cluster of an organization for ten minutes after its Kubernetes cluster refused a node.
   */
  private boolean standsBack(Cluster cluster) {
    return refusing.contains(cluster.orgId())
        || Gang.standsBack(cluster, pool.gpusPerNode(), patience.millis(), nowMillis);
  }

  private static boolean isReplacementOf(Allocation replacement, Allocation replaced) {
    return replacement.isOpen() && replaced.allocationId().equals(replacement.replaces());
  }

  private boolean isLapsed(Allocation a) {
    Long since = a.swapRequestedAtMillis();
    return since != null && nowMillis >= since + swapFreshnessMillis;
  }

  /** Returns how a cluster takes part in the auction. */
  static Bidder.Participation participation(Cluster cluster) {
    Hold hold = cluster.hold();
    if (hold != null && hold.stage() == Hold.Stage.ENFORCE) {
      return Bidder.Participation.EVICTED;
    }
    if (cluster.posture() == Cluster.Posture.STATIC) {
      return Bidder.Participation.STATIC;
    }
    return hold != null && hold.stage() == Hold.Stage.NOTICE
        ? Bidder.Participation.INCUMBENTS_ONLY
        : Bidder.Participation.OPEN;
  }

  private Supply supply(Nodes nodes, Set<String> usable) {
    Set<String> held = new HashSet<>();
    Set<String> returning = new HashSet<>();
    int inTransit = 0;
    for (Cluster cluster : clusters) {
      for (Allocation a : cluster.allocations()) {
        (a.isOpen() ? held : returning).add(a.nodeId());
        inTransit += a.isOpen() && !a.fillsSlot() && usable.contains(a.nodeId()) ? 1 : 0;
      }
    }
    List<Supply.FreeNode> free = new ArrayList<>();
    for (Node node : nodes.nodes()) {
      String id = node.nodeId();
      if (usable.contains(id)
          && !held.contains(id)
          && !returning.contains(id)
          && !nodes.busy().contains(id)) {
        free.add(new Supply.FreeNode(id, nodes.excluded().get(id)));
      }
    }
    return new Supply(usable.size() - inTransit, free);
  }

  private Map<String, ClusterDecision> changed(
      Clearing clearing, AlertWatch alerts, Set<String> leavers) {
    Map<String, List<Clearing.Grant>> grants = new HashMap<>();
    clearing
        .grants()
        .forEach(g -> grants.computeIfAbsent(g.cluster(), c -> new ArrayList<>()).add(g));
    Map<String, List<MarketTransitions.Orders.Taken>> reclaims = new HashMap<>();
    clearing
        .reclaims()
        .forEach(
            r ->
                reclaims
                    .computeIfAbsent(r.cluster(), c -> new ArrayList<>())
                    .add(new MarketTransitions.Orders.Taken(r.allocationId(), reason(r.reason()))));
    overdue.forEach(
        (cluster, late) ->
            late.forEach(
                a ->
                    reclaims
                        .computeIfAbsent(cluster, c -> new ArrayList<>())
                        .add(
                            new MarketTransitions.Orders.Taken(
                                a.allocationId(), Allocation.Reason.UNWOUND))));
    Notices judged = notices.against(oldestWaiting(clearing, grants));
    Map<String, Notices.Part> parts = new HashMap<>();
    for (Cluster cluster : clusters) {
      parts.put(
          cluster.name(),
          pool.isPaused()
              ? Notices.paused(cluster, nowMillis)
              : judged.part(cluster, reclaims.getOrDefault(cluster.name(), List.of()), nowMillis));
    }
    parts = judged.passOn(clusters, parts, nowMillis);
    Map<String, ClusterDecision> changed = new LinkedHashMap<>();
    for (Cluster cluster : clusters) {
      ClusterDecision decided =
          decided(
              cluster,
              clearing,
              grants.getOrDefault(cluster.name(), List.of()),
              reclaims.getOrDefault(cluster.name(), List.of()),
              Objects.requireNonNull(parts.get(cluster.name())),
              alerts,
              leavers);
      if (changes(cluster, decided)) {
        changed.put(cluster.name(), decided);
      }
    }
    return changed;
  }

  /**
   * Returns the decisions with the organization whose bid each outbid node is taken for: the
   * highest seat of another organization that has no node and gets no returning machine. Only
   * statistics use it, so previews and quotes leave it out.
   */
  Outcome withEvictors(Outcome outcome) {
    List<OutbidNode> losers = new ArrayList<>();
    int returning = 0;
    for (Cluster cluster : clusters) {
      ClusterDecision part = outcome.decided().get(cluster.name());
      if (part != null) {
        part.reclaims().stream()
            .filter(taken -> taken.reason() == Allocation.Reason.OUTBID)
            .forEach(taken -> losers.add(new OutbidNode(cluster.orgId(), taken.allocationId())));
      }
      for (Allocation a : cluster.allocations()) {
        returning += a.isOpen() ? 0 : 1;
      }
    }
    if (losers.isEmpty()) {
      return outcome;
    }
    ToIntFunction<Cluster> waits =
        cluster -> {
          ClusterDecision part = outcome.decided().get(cluster.name());
          int nodes = cluster.filledSlots() + (part == null ? 0 : part.grants().size());
          return Math.max(0, seats(cluster, outcome.clearing()) - nodes);
        };
    Map<String, String> evictors = new HashMap<>();
    List<Cluster> winners =
        clusters.stream().filter(c -> waits.applyAsInt(c) > 0).sorted(HIGHEST_FIRST).toList();
    for (Cluster winner : winners) {
      int waiting = waits.applyAsInt(winner);
      int served = Math.min(waiting, returning);
      returning -= served;
      losers.stream()
          .filter(loser -> !evictors.containsKey(loser.allocationId()))
          .filter(loser -> !loser.orgId().equals(winner.orgId()))
          .limit(waiting - served)
          .toList()
          .forEach(loser -> evictors.put(loser.allocationId(), winner.orgId()));
    }
    Map<String, ClusterDecision> decided = new LinkedHashMap<>(outcome.decided());
    decided.replaceAll((name, part) -> part.reclaims().isEmpty() ? part : part.with(evictors));
    return new Outcome(
        outcome.clearing(), outcome.supply(), decided, outcome.demand(), outcome.rivalry());
  }

  private record OutbidNode(String orgId, String allocationId) {}

  /** Returns when the oldest bid was declared that has won a seat and waits for a node. */
  private long oldestWaiting(Clearing clearing, Map<String, List<Clearing.Grant>> grants) {
    long oldest = Long.MAX_VALUE;
    for (Cluster cluster : clusters) {
      int nodes = cluster.filledSlots() + grants.getOrDefault(cluster.name(), List.of()).size();
      Declaration declared = cluster.declared();
      if (declared != null && seats(cluster, clearing) > nodes) {
        oldest = Math.min(oldest, declared.pricedAtMillis());
      }
    }
    return oldest;
  }

  private int seats(Cluster cluster, Clearing clearing) {
    int held = cluster.filledSlots();
    int declared = Math.max(slots(cluster, held), held);
    return declared - clearing.unseated().getOrDefault(cluster.name(), 0);
  }

  private ClusterDecision decided(
      Cluster cluster,
      Clearing clearing,
      List<Clearing.Grant> grants,
      List<MarketTransitions.Orders.Taken> reclaims,
      Notices.Part part,
      AlertWatch alerts,
      Set<String> leavers) {
    Set<String> losing = new HashSet<>();
    if (pool.isPaused()) {
      // A paused market gives no seats.
      cluster.allocations().forEach(a -> losing.add(a.allocationId()));
    } else {
      reclaims.forEach(loser -> losing.add(loser.allocationId()));
    }
    int held = cluster.filledSlots();
    int seats = seats(cluster, clearing);
    int together = Gang.slotsActiveTogether(cluster, pool.gpusPerNode());
    Long cents = clearing.centsOf(cluster.orgId());
    return new ClusterDecision(
        gate(cluster),
        cluster.version(),
        leavers.contains(cluster.orgId())
            ? null
            : Long.valueOf(cents == null ? pool.reserveCents() : cents),
        seats,
        held < together ? together : 1,
        grants,
        losing,
        part.taken(),
        part.orders(),
        verdict(cluster, clearing, part.kept()),
        alerts.look(cluster),
        hasGivenUp(cluster, seats, part.taken()));
  }

  /** Returns the ceiling that this tick reads. */
  private Standing.Gate gate(Cluster cluster) {
    Declaration declared = cluster.declared();
    return new Standing.Gate(
        cluster.ceilingCents(), declared == null ? 0 : declared.pricedAtMillis(), nowMillis);
  }

  /**
   * Returns true if a cluster lost a won seat or a new node by its own change: fewer nodes, a
   * larger minimum or a lower ceiling. A provisioning node is protected unless its cluster gave the
   * protection up. A wait after a refused node is no change of the cluster's own.
   */
  private boolean hasGivenUp(
      Cluster cluster, int seats, List<MarketTransitions.Orders.Taken> taken) {
    int held = cluster.filledSlots();
    int won = held + cluster.standing().awaitedSlots();
    Standing.Gate before = cluster.standing().gate();
    boolean isLowered = before != null && cluster.ceilingCents() < before.ceilingCents();
    boolean isLost =
        cluster.standing().awaitedSlots() > Math.max(0, seats - held)
            && !pool.isPaused()
            && !probing.contains(cluster.orgId());
    if (isLost
        && (isLowered || bids(cluster) < won || cluster.minimumSlots(pool.gpusPerNode()) > won)) {
      return true;
    }
    return taken.stream()
        .filter(loser -> loser.reason() == Allocation.Reason.OUTBID)
        .flatMap(loser -> cluster.find(loser.allocationId()).stream())
        .anyMatch(
            a ->
                a.state() == Allocation.State.PROVISIONING
                    || (a.isFresh(nowMillis)
                        && cluster.ceilingCents() < a.protection().grantCeilingCents()));
  }

  private boolean changes(Cluster cluster, ClusterDecision decided) {
    return decided.alerted().isPresent()
        || !decided.grants().isEmpty()
        || !decided.reclaims().isEmpty()
        || !decided.notices().areNone()
        || !decided.verdict().equals(cluster.verdict())
        || decided.hasGivenUp()
        || MarketTransitions.isJudgedAnew(
            cluster, decided.gate(), decided.seats(), decided.losing(), pool.gpusPerNode())
        || !MarketTransitions.lapsedSwaps(cluster, swapFreshnessMillis, nowMillis).isEmpty();
  }

  private static Allocation.Reason reason(Clearing.Reason reason) {
    return switch (reason) {
      case OUTBID -> Allocation.Reason.OUTBID;
      case HOLD -> Allocation.Reason.HOLD;
    };
  }

  /**
   * Returns why declared slots stay open. A slot that won a seat and waits for its node is neither
   * too cheap nor unavailable at any admission price; a slot whose node is under notice is not
   * open.
   *
   * @param kept the number of nodes without a seat that are held for now
   */
  private Verdict verdict(Cluster cluster, Clearing clearing, int kept) {
    boolean bids = cluster.posture() == Cluster.Posture.MARKET;
    int unseated =
        bids ? Math.max(0, clearing.unseated().getOrDefault(cluster.name(), 0) - kept) : 0;
    boolean failing =
        (cluster.setbacks().provisionFailures() >= FAILURES_MEANING_UNAVAILABLE
                || standsBack(cluster))
            && cluster.pending(pool.gpusPerNode()) > 0;
    Optional<Long> admission = Optional.ofNullable(clearing.admissionCents());
    Clearing.Shortfall shortfall = clearing.shortfalls().get(cluster.name());
    boolean unavailable =
        failing
            || (unseated > 0
                && (shortfall == null
                    ? admission.isEmpty()
                    : shortfall == Clearing.Shortfall.SIZE));
    boolean tooLow =
        unseated > 0
            && !(unavailable && pool.detectorArmed())
            && (shortfall == null
                ? admission.filter(price -> cluster.ceilingCents() < price).isPresent()
                : shortfall == Clearing.Shortfall.PRICE);
    return Verdict.of(tooLow, pool.detectorArmed() ? Boolean.valueOf(unavailable) : null);
  }
}
