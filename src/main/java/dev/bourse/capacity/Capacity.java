package dev.bourse.capacity;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Price;
import dev.bourse.core.Text;
import dev.bourse.core.Times;
import dev.bourse.pools.Pool;
import dev.bourse.schemas.k8s.BidJson;
import dev.bourse.schemas.vm.CapacityDeclarationJson;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The writes of clients: declarations, swaps and drills. Pure functions. A rejected write throws an
 * {@link ApiException}. The checks run in the order that the contract states, and the cadence is
 * checked last, so a 429 always means that the same request is accepted later.
 */
public final class Capacity {
  private Capacity() {}

  /**
   * A declaration as sent.
   *
   * @param actor the actor that declares
   * @param maxGpus the number of GPUs wanted; null to keep the standing one, which is 0 before the
   *     first declaration
   * @param pricePerGpuHour the ceiling in US dollars; null to keep the standing one
   * @param release names of nodes to release first on a shrink; empty to keep the standing
   *     nominations
   * @param expectedVersion the version that the client read; null to skip the compare-and-set
   * @param conditions its minimum, end and budget
   */
  public record Declare(
      String actor,
      @Nullable Integer maxGpus,
      @Nullable BigDecimal pricePerGpuHour,
      Optional<List<String>> release,
      @Nullable Long expectedVersion,
      Conditions.Changes conditions) {

    /**
     * Returns the declaration of a request.
     *
     * @throws ApiException if a time cannot be parsed
     */
    public static Declare of(String actor, CapacityDeclarationJson sent) {
      return new Declare(
          actor,
          sent.maxGpus(),
          sent.maxPricePerGpuHour(),
          Optional.ofNullable(sent.release()),
          sent.expectedVersion(),
          Conditions.Changes.of(sent));
    }

    /**
     * Returns the declaration of a bid for a Kubernetes cluster.
     *
     * @throws ApiException if a time cannot be parsed
     */
    public static Declare of(String actor, BidJson sent) {
      return new Declare(
          actor,
          sent.maxGpus(),
          sent.limitPricePerGpuHour(),
          Optional.ofNullable(sent.release()),
          sent.expectedVersion(),
          Conditions.Changes.of(sent));
    }

    /** Returns the number of GPUs that are wanted after the write. */
    int gpus(@Nullable Declaration standing) {
      return maxGpus == null ? wanted(standing) : maxGpus;
    }

    private static int wanted(@Nullable Declaration standing) {
      return standing == null ? 0 : standing.maxGpus();
    }

    /**
     * True if the write lowers or repeats the GPUs and changes nothing else. It may clear the
     * minimum, because fewer GPUs than the minimum are rejected while it stands.
     */
    private boolean onlyLowers(@Nullable Declaration standing) {
      return standing != null
          && gpus(standing) <= standing.maxGpus()
          && (pricePerGpuHour == null || pricePerGpuHour.compareTo(price(standing)) == 0)
          && release.isEmpty()
          && conditions.keepsOrClearsMinimum();
    }
  }

  /** Declares capacity. A shrink reclaims nodes at once. */
  public static Transition declare(Cluster cluster, Declare order, Terms terms, long nowMillis) {
    Pool pool = terms.pool();
    requireArmed(cluster, terms);
    Declaration standing = cluster.declared();
    int maxGpus = order.gpus(standing);
    boolean isRaise = maxGpus > Declare.wanted(standing);
    BigDecimal price = requirePrice(cluster, order, isRaise ? null : standing);
    if (order.expectedVersion() == null && !order.onlyLowers(standing)) {
      throw ApiException.of(
          ErrorCode.BAD_REQUEST,
          "expected_version is missing; send the version that you read (you can omit it only if"
              + " the write just lowers max_gpus or clears min_gpus)");
    }
    if (maxGpus % pool.gpusPerNode() != 0) {
      throw ApiException.badField(
          "max_gpus", maxGpus, "a multiple of gpus_per_node, which is " + pool.gpusPerNode());
    }
    order.conditions().requireTenable(nowMillis);
    Integer minGpus = Gang.minGpus(order, standing, pool);
    long ceilingCents = ceilingCents(price, terms, cluster, isRaise ? null : standing);
    if (order.expectedVersion() != null) {
      requireVersion(cluster, order.expectedVersion());
    }
    if (isRaise) {
      requireRaisable(cluster, terms);
    }
    Set<Allocation> nominated = nominated(cluster, order.release());
    Declaration samePriced =
        standing != null && standing.ceilingCents() == ceilingCents ? standing : null;
    // A cluster that declared no GPUs did not bid, so its place among equal bids starts now.
    boolean hasWaited = samePriced != null && samePriced.maxGpus() > 0;
    if (ceilingCents < pool.reserveCents() && (isRaise || samePriced == null)) {
      throw ApiException.of(
              ErrorCode.BID_TOO_LOW,
              "%s %s can never clear; the lowest that can is %s",
              priceField(cluster),
              Price.shown(ceilingCents),
              Price.shown(pool.reserveCents()))
          .with("minimum", Price.toUsd(pool.reserveCents()));
    }

    Cluster.Draft draft = accept(cluster, nowMillis);
    long declaredAt = Declaration.notBefore(standing, nowMillis);
    draft.declared =
        new Declaration(
            maxGpus,
            new Declaration.Ceiling(
                ceilingCents,
                samePriced != null && hasWaited ? samePriced.pricedAtMillis() : declaredAt,
                samePriced == null
                    ? Long.valueOf(terms.ticks().effectiveAtMillis(nowMillis))
                    : samePriced.effectiveAtMillis()),
            new Declaration.LastWrite(
                declaredAt, order.actor(), terms.declarationLimits().grantId()),
            order
                .conditions()
                .over(Declaration.conditionsOf(standing), declaredAt)
                .with(c -> c.minGpus = minGpus));
    draft.gangUnwoundAtMillis = null;
    terms.declarationLimits().require(cluster, standing, draft.declared, nowMillis);
    requireCadence(cluster, terms, nowMillis);
    if (order.release().isPresent()) {
      replaceNominations(draft, nominated);
    }
    List<Activity> activity = new ArrayList<>();
    activity.add(Activity.declared(order.actor(), draft.declared));
    int slots = maxGpus / pool.gpusPerNode();
    List<Allocation> surplus = surplus(draft, slots);
    int givenUp = cluster.countGivenUp(surplus, slots, nowMillis);
    if (givenUp > 0) {
      draft.standing = cluster.standing().withGiveUp(nowMillis);
    }
    for (Allocation victim : surplus) {
      MarketTransitions.take(
          draft, victim, Allocation.Reason.SCALE_DOWN, order.actor(), nowMillis, activity);
    }
    draft.verdict = verdict(draft.build(), terms);
    return new Transition(
        cluster,
        draft.build(),
        activity,
        new AuditRow(
            nowMillis,
            cluster.orgId(),
            order.actor(),
            action(cluster, "put"),
            cluster.name(),
            detail(cluster, order, draft.declared, draft.version)),
        List.of(),
        terms.declarationLimits().hourlyLimit(cluster, standing, draft.declared),
        BidderEvents.Count.listGivenUp(cluster, givenUp));
  }

  /**
   * Requests a swap of the node with this name on the cluster's surface. Repeating the request
   * while the swap is in flight changes nothing and succeeds.
   */
  public static Transition swap(
      Cluster cluster, String actor, String name, Terms terms, long nowMillis) {
    requireArmed(cluster, terms);
    Allocation node = cluster.findNamed(name).orElseThrow(() -> unknownNode(cluster, "node", name));
    if (node.isSwapping()) {
      return Transition.none(cluster);
    }
    if (cluster.posture() == Cluster.Posture.STATIC || !terms.pool().swapsEnabled()) {
      throw ApiException.of(
          ErrorCode.SWAP_DISABLED,
          cluster.posture() == Cluster.Posture.STATIC
              ? "cluster " + cluster.name() + " is operator-managed; its nodes cannot be swapped"
              : "swaps are switched off in pool " + terms.pool().name());
    }
    if (cluster.isPaused() || cluster.maintenance()) {
      throw ApiException.of(
          ErrorCode.CLUSTER_GATED,
          "cluster %s is %s",
          cluster.name(),
          cluster.maintenance() ? "in maintenance" : "under a billing hold");
    }
    if (node.pinned()) {
      throw ApiException.of(
          ErrorCode.NODE_PINNED, "an operator has pinned " + name + "; it cannot be swapped");
    }
    requireCadence(cluster, terms, nowMillis);

    Cluster.Draft draft = accept(cluster, nowMillis);
    draft.put(swapped(cluster, node, nowMillis));
    return new Transition(
        cluster,
        draft.build(),
        List.of(),
        new AuditRow(
            nowMillis,
            cluster.orgId(),
            actor,
            action(cluster, "swap"),
            cluster.name(),
            "node=" + name + " version=" + draft.version));
  }

  /** Returns a node with a swap in flight, nominated last unless it was nominated before. */
  static Allocation swapped(Cluster cluster, Allocation node, long nowMillis) {
    int lastRank = cluster.allocations().stream().mapToInt(Allocation::nomination).max().orElse(0);
    return node.withSwap(nowMillis, node.nomination() > 0 ? node.nomination() : lastRank + 1);
  }

  /**
   * Starts a drill: the programs on all active nodes get a notice that reclaims no node. Repeating
   * the request while a drill is running changes nothing and succeeds.
   */
  public static Transition drill(Cluster cluster, String actor, Terms terms, long nowMillis) {
    requireArmed(cluster, terms);
    Drill last = cluster.drill();
    if (last != null && last.isRunning(nowMillis)) {
      return Transition.none(cluster);
    }
    Drill drill = new Drill(nowMillis);
    long nodes = cluster.allocations().stream().filter(drill::concerns).count();
    if (nodes == 0) {
      throw ApiException.of(
          ErrorCode.UNKNOWN_NODE,
          "cluster %s holds no active node that could be told; start the drill when one is active",
          cluster.name());
    }
    requireCadence(cluster, terms, nowMillis);

    Cluster.Draft draft = accept(cluster, nowMillis);
    draft.drill = drill;
    return new Transition(
        cluster,
        draft.build(),
        List.of(),
        new AuditRow(
            nowMillis,
            cluster.orgId(),
            actor,
            "vm_capacity_drill",
            cluster.name(),
            "nodes=" + nodes + " version=" + draft.version));
  }

  /** Rejects with {@code version-mismatch} a write that expects another version. */
  static void requireVersion(Cluster cluster, long expected) {
    if (expected != cluster.version()) {
      throw ApiException.of(
          ErrorCode.VERSION_MISMATCH,
          "expected_version is %s but the cluster is at version %s; nothing was written",
          expected,
          cluster.version());
    }
  }

  /** Rejects with {@code conflict} a write of a retired cluster. */
  static void requireLive(Cluster cluster) {
    Long retiredAt = cluster.retiredAtMillis();
    if (retiredAt != null) {
      throw ApiException.of(
              ErrorCode.CONFLICT,
              "cluster %s was retired at %s; nothing of it can be changed any more",
              cluster.name(),
              Times.rfc3339(retiredAt))
          .with("reason", "retired");
    }
  }

  private static void requireArmed(Cluster cluster, Terms terms) {
    requireLive(cluster);
    if (!terms.writesArmed() || !cluster.writesArmed()) {
      throw ApiException.retryLater(
          ErrorCode.CAPACITY_WRITES_DISABLED,
          "capacity writes are switched off %s; reads keep working"
              .formatted(terms.writesArmed() ? "for cluster " + cluster.name() : "on the platform"),
          RETRY_DISARMED_MILLIS);
    }
  }

  private static BigDecimal price(Declaration standing) {
    return BigDecimal.valueOf(standing.ceilingCents(), 2);
  }

  /**
   * Returns the ceiling of the write, or the standing one.
   *
   * @param kept the declaration whose ceiling the write may keep; null if it must send one
   */
  private static BigDecimal requirePrice(
      Cluster cluster, Declare order, @Nullable Declaration kept) {
    if (order.pricePerGpuHour() != null) {
      return order.pricePerGpuHour();
    }
    if (kept == null) {
      throw ApiException.of(
          ErrorCode.BAD_REQUEST,
          "%s is missing; send it (you can omit it only if the write does not raise max_gpus)",
          priceField(cluster));
    }
    return price(kept);
  }

  /** Operators switch writes off for minutes rather than seconds. */
  private static final long RETRY_DISARMED_MILLIS = 60_000;

  /**
   * @param kept the declaration whose ceiling may stay although the cap is lower by now, because an
   *     organization that cannot lower its ceiling must still be able to release nodes
   */
  private static long ceilingCents(
      BigDecimal price, Terms terms, Cluster cluster, @Nullable Declaration kept) {
    Pool pool = terms.pool();
    if (!Price.isWholeCents(price)) {
      throw ApiException.of(
          ErrorCode.PRICE_PRECISION,
          "%s: %s has more than two decimals; expected whole cents",
          priceField(cluster),
          Text.shown(price.toPlainString()));
    }
    boolean isKept = kept != null && price.compareTo(price(kept)) == 0;
    if (!isKept && price.compareTo(BigDecimal.valueOf(pool.capCents(), 2)) > 0) {
      throw ApiException.of(
              ErrorCode.PRICE_ABOVE_MAXIMUM,
              "%s %s is above the highest accepted, %s",
              priceField(cluster),
              Text.shown(price.toPlainString()),
              Price.shown(pool.capCents()))
          .with("maximum", Price.toUsd(pool.capCents()));
    }
    return Price.toCents(price);
  }

  /** Returns the name of the ceiling's field on the cluster's surface. */
  static String priceField(Cluster cluster) {
    return switch (cluster.kind()) {
      case VM -> "max_price_per_gpu_hour";
      case K8S -> "limit_price_per_gpu_hour";
    };
  }

  private static void requireRaisable(Cluster cluster, Terms terms) {
    if (cluster.posture() == Cluster.Posture.STATIC) {
      throw ApiException.of(
          ErrorCode.STATIC_POSTURE,
          "cluster %s is operator-managed; max_gpus can be lowered but not raised",
          cluster.name());
    }
    if (cluster.kind() == Cluster.Kind.VM && !terms.hasSshKeys()) {
      throw ApiException.of(
          ErrorCode.NO_SSH_KEYS,
          "organization %s has no ssh key; register one before raising max_gpus",
          cluster.orgId());
    }
  }

  private static void requireCadence(Cluster cluster, Terms terms, long nowMillis) {
    // A clock that is set back must not make a client wait longer than the cadence.
    long overMillis =
        Math.max(terms.cadence().lastOverMillis(), nowMillis - cluster.writes().lastAtMillis());
    long waitMillis = terms.cadence().millis() - overMillis;
    if (cluster.writes().lastAtMillis() > 0 && waitMillis > 0) {
      throw ApiException.tooOften(
          "cadence",
          "cluster %s accepts one capacity write every %s ms; the same request will do in %s ms"
              .formatted(cluster.name(), terms.cadence().millis(), waitMillis),
          waitMillis);
    }
  }

  private static Set<Allocation> nominated(Cluster cluster, Optional<List<String>> release) {
    Set<Allocation> nominated = new LinkedHashSet<>();
    List<String> names = release.orElse(List.of());
    Map<String, Allocation> held = names.isEmpty() ? Map.of() : cluster.byName();
    for (int i = 0; i < names.size(); i++) {
      String name = names.get(i);
      Allocation named = held.get(name);
      if (named == null) {
        throw unknownNode(cluster, "release[" + i + "]", name);
      }
      nominated.add(named);
    }
    return nominated;
  }

  static ApiException unknownNode(Cluster cluster, String field, String name) {
    return ApiException.of(
        ErrorCode.UNKNOWN_NODE,
        "%s: '%s' is %s; nothing was written",
        field,
        Text.shown(name),
        cluster.allocations().stream()
            .filter(node -> name.equals(cluster.nameOf(node)))
            .findFirst()
            .map(
                node ->
                    node.isOpen()
                        ? "the replacement of another node and still being prepared; name it once"
                            + " it is active"
                        : "being reclaimed")
            .orElseGet(
                () ->
                    "not the %s of a node that cluster %s holds"
                        .formatted(
                            cluster.kind() == Cluster.Kind.VM ? "public IP" : "name",
                            cluster.name())));
  }

  /** Returns the action of a write in the audit trail. */
  static String action(Cluster cluster, String write) {
    return (cluster.kind() == Cluster.Kind.VM ? "vm_capacity_" : "k8s_bid_") + write;
  }

  /** Returns a draft with the next version and the time of the write. */
  private static Cluster.Draft accept(Cluster cluster, long nowMillis) {
    Cluster.Draft draft = cluster.draft();
    draft.version = cluster.version() + 1;
    draft.lastWriteAtMillis = nowMillis;
    return draft;
  }

  /** Ranks the named nodes from 1. Nominations of swaps in flight stay and rank after them. */
  private static void replaceNominations(Cluster.Draft draft, Set<Allocation> nominated) {
    int rank = 0;
    Set<String> named = new HashSet<>();
    for (Allocation allocation : nominated) {
      draft.put(allocation.withNomination(++rank));
      named.add(allocation.allocationId());
    }
    for (Allocation allocation : List.copyOf(draft.allocations)) {
      if (!named.contains(allocation.allocationId()) && allocation.nomination() > 0) {
        draft.put(allocation.withNomination(allocation.isSwapping() ? ++rank : 0));
      }
    }
  }

  private static List<Allocation> surplus(Cluster.Draft draft, int slots) {
    List<Allocation> held = draft.build().releaseOrder();
    return held.subList(0, Math.max(0, held.size() - slots));
  }

  /** Returns the verdict by the last published prices, which stands until the next tick. */
  private static Verdict verdict(Cluster cluster, Terms terms) {
    Boolean unavailable = cluster.verdict().capacityUnavailable();
    if (cluster.pending(terms.pool().gpusPerNode()) == 0) {
      return Verdict.of(false, unavailable == null ? null : Boolean.FALSE);
    }
    Long admission = terms.admissionCents();
    boolean tooLow =
        !Boolean.TRUE.equals(unavailable)
            && admission != null
            && cluster.ceilingCents() < admission;
    return Verdict.of(tooLow, unavailable);
  }

  private static String detail(Cluster cluster, Declare order, Declaration declared, long version) {
    return "max_gpus=%s %s=%s%s%s version=%s"
        .formatted(
            declared.maxGpus(),
            priceField(cluster),
            Price.shown(declared.ceilingCents()),
            order.release().map(r -> " release=[" + String.join(",", r) + "]").orElse(""),
            order.conditions().recorded(),
            version);
  }
}
