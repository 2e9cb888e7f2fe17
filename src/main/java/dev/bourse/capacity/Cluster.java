package dev.bourse.capacity;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The state of one cluster at one moment. Immutable: {@link #draft} starts the next state.
 *
 * @param identity its name, owner, pool and kind
 * @param controls the settings of its operators and its organization beside the declaration
 * @param writes its version and revision, and the time of its last write
 * @param declared its declaration; null before the first
 * @param allocations the nodes that it holds and those being reclaimed, by slot
 * @param verdict why declared slots stay open
 * @param hold the billing hold in force; null without one
 * @param alerts its alerts
 * @param setbacks its unwound grants
 * @param standing its rank and its ceiling as of the last tick
 * @param drill its last drill; null without one
 */
public record Cluster(
    Identity identity,
    Controls controls,
    Writes writes,
    @Nullable Declaration declared,
    List<Allocation> allocations,
    Verdict verdict,
    @Nullable Hold hold,
    Alerts alerts,
    Setbacks setbacks,
    Standing standing,
    @Nullable Drill drill) {

  /** The order in which a shrink takes nodes: nominated, provisioning, then the newest grant. */
  private static final Comparator<Allocation> RELEASE_ORDER =
      Comparator.<Allocation>comparingInt(
              a -> a.nomination() == 0 ? Integer.MAX_VALUE : a.nomination())
          .thenComparing(a -> a.state() != Allocation.State.PROVISIONING)
          .thenComparing(Comparator.comparingLong(Allocation::grantedAtMillis).reversed())
          .thenComparing(Comparator.comparingInt(Allocation::slot).reversed());

  public Cluster {
    allocations = List.copyOf(allocations);
    if (writes.version < 0 || writes.revision < 0 || setbacks.provisionFailures < 0) {
      throw new IllegalArgumentException(
          "cluster %s has version %s, revision %s and %s failures; none can be negative"
              .formatted(
                  identity.name, writes.version, writes.revision, setbacks.provisionFailures));
    }
  }

  /** The surface that a cluster belongs to. */
  public enum Kind {
    VM,
    K8S
  }

  /** The authority over the number of nodes that a cluster holds. */
  public enum Posture {
    /** Its declaration and the market decide. */
    MARKET,
    /** An operator decides; the declaration can only shrink. */
    STATIC
  }

  /**
   * The part of a cluster that never changes.
   *
   * @param name its name, unique among all clusters
   * @param orgId the organization that owns it
   * @param pool the pool that it buys in
   * @param kind its surface
   */
  public record Identity(String name, String orgId, String pool, Kind kind) {}

  /**
   * The settings of operators and the organization beside the declaration.
   *
   * @param posture the authority over the number of its nodes
   * @param writesArmed true if its declaration can be written
   * @param maintenance true while an operator works on it; swaps are rejected meanwhile
   * @param overrides an operator's exceptions from the pool's terms
   * @param description its organization's description; null without one
   * @param retiredAtMillis when it was retired; null if it is not
   */
  public record Controls(
      Posture posture,
      boolean writesArmed,
      boolean maintenance,
      Overrides overrides,
      @Nullable String description,
      @Nullable Long retiredAtMillis) {}

  /**
   * The counters of a cluster's writes.
   *
   * @param version the clients' counter for compare-and-set: it advances by one with each accepted
   *     client write and when a declaration lapses
   * @param revision the store's counter for compare-and-set: it rises with each change of any kind,
   *     see {@link Revisions}
   * @param lastAtMillis when the last client write was accepted; 0 before the first
   */
  public record Writes(long version, long revision, long lastAtMillis) {}

  /**
   * The unwound grants of a cluster.
   *
   * @param provisionFailures the number of grants unwound in a row
   * @param gangUnwoundAtMillis when the market last unwound an incomplete minimum; null if it did
   *     not since the last declaration
   * @param joinRefusedAtMillis when the tenant's Kubernetes cluster last refused a node; null if a
   *     node has joined it since
   */
  public record Setbacks(
      int provisionFailures,
      @Nullable Long gangUnwoundAtMillis,
      @Nullable Long joinRefusedAtMillis) {
    static final Setbacks NONE = new Setbacks(0, null, null);
  }

  /** Returns a new cluster without a declaration. */
  public static Cluster created(
      String name, String orgId, String pool, Kind kind, Posture posture) {
    return new Cluster(
        new Identity(name, orgId, pool, kind),
        new Controls(posture, true, false, Overrides.NONE, null, null),
        new Writes(0, 0, 0),
        null,
        List.of(),
        Verdict.NONE,
        null,
        Alerts.NONE,
        Setbacks.NONE,
        Standing.NONE,
        null);
  }

  /** Returns a copy with a first declaration and these nodes, still at version 0. */
  public Cluster startingWith(Declaration first, List<Allocation> held) {
    Draft draft = draft();
    draft.revision = revision();
    draft.declared = first;
    draft.allocations.addAll(held);
    return draft.build();
  }

  /** Returns a cluster that is not stored, to preview a bid before a cluster exists. */
  public static Cluster bidding(
      String orgId, String pool, Declaration declared, Optional<Hold> hold) {
    Draft draft = created("", orgId, pool, Kind.VM, Posture.MARKET).draft();
    draft.declared = declared;
    draft.hold = hold.orElse(null);
    return draft.build();
  }

  public String name() {
    return identity.name;
  }

  public String orgId() {
    return identity.orgId;
  }

  public String pool() {
    return identity.pool;
  }

  public Kind kind() {
    return identity.kind;
  }

  public Posture posture() {
    return controls.posture;
  }

  public boolean writesArmed() {
    return controls.writesArmed;
  }

  public boolean maintenance() {
    return controls.maintenance;
  }

  public Overrides overrides() {
    return controls.overrides;
  }

  public @Nullable String description() {
    return controls.description;
  }

  public @Nullable Long retiredAtMillis() {
    return controls.retiredAtMillis;
  }

  public long version() {
    return writes.version;
  }

  public long revision() {
    return writes.revision;
  }

  /** Returns a number that rises with each stored change, unlike the random part of a revision. */
  public long changes() {
    return Revisions.changes(revision());
  }

  /** True if nothing can be declared for it any more. */
  public boolean isRetired() {
    return controls.retiredAtMillis != null;
  }

  /**
   * True if nothing can happen to it any more: it is retired, holds no node, and neither the market
   * nor billing has work left for it. {@link ClusterRows#SETTLED} is the same condition in SQL.
   */
  boolean isSettled() {
    return isRetired()
        && allocations.isEmpty()
        && hold == null
        && standing.awaitedSlots() == 0
        && standing.gaveUpAtMillis() == null
        && (declared == null || declared.untilMillis() == null);
  }

  /** Returns the declared capacity in whole nodes. */
  public int declaredSlots(int gpusPerNode) {
    return declared == null ? 0 : declared.maxGpus() / gpusPerNode;
  }

  /** Returns its minimum, all or nothing, in nodes; 1 without a minimum. */
  public int minimumSlots(int gpusPerNode) {
    Integer minGpus = Declaration.conditionsOf(declared).minGpus();
    return minGpus == null || declaredSlots(gpusPerNode) == 0
        ? 1
        : Math.max(1, -Math.floorDiv(-minGpus, gpusPerNode));
  }

  /** Returns the declared ceiling in cents per GPU-hour; 0 before the first declaration. */
  public long ceilingCents() {
    return declared == null ? 0 : declared.ceilingCents();
  }

  /** Returns the allocations that fill declared slots, in the order of release by a shrink. */
  public List<Allocation> releaseOrder() {
    return releaseOrder(RELEASE_ORDER);
  }

  /** Returns them by another order first; a shrink's order breaks ties. */
  public List<Allocation> releaseOrderAfter(Comparator<Allocation> first) {
    return releaseOrder(first.thenComparing(RELEASE_ORDER));
  }

  private List<Allocation> releaseOrder(Comparator<Allocation> by) {
    List<Allocation> order = new ArrayList<>();
    for (Allocation allocation : allocations) {
      if (allocation.fillsSlot()) {
        order.add(allocation);
      }
    }
    order.sort(by);
    return order;
  }

  /**
   * Counts the seats that the cluster has won and the nodes granted within the last ten minutes
   * that this release or declaration gives up.
   *
   * @param released allocations that the organization releases
   * @param slots whole nodes that it declares from now on
   */
  int countGivenUp(List<Allocation> released, int slots, long nowMillis) {
    int held = filledSlots();
    int seats = Math.max(0, held + standing.awaitedSlots() - Math.max(slots, held));
    return seats + (int) released.stream().filter(a -> a.isFresh(nowMillis)).count();
  }

  /** Returns the number of slots that open allocations fill. */
  public int filledSlots() {
    int filled = 0;
    for (Allocation allocation : allocations) {
      if (allocation.fillsSlot()) {
        filled++;
      }
    }
    return filled;
  }

  /** Returns the number of declared slots without an open allocation. */
  public int pending(int gpusPerNode) {
    return Math.max(0, declaredSlots(gpusPerNode) - filledSlots());
  }

  /** Finds an allocation, held or being reclaimed, by its id. */
  public Optional<Allocation> find(String allocationId) {
    return allocations.stream().filter(a -> a.allocationId().equals(allocationId)).findFirst();
  }

  /**
   * Returns a node's name on the cluster's surface: its address for a VM cluster, null while it has
   * none; its id for a Kubernetes cluster.
   */
  public @Nullable String nameOf(Allocation node) {
    return switch (kind()) {
      case VM -> node.publicIp();
      case K8S -> node.nodeId();
    };
  }

  /** Returns the names of the nodes that have one, on the cluster's surface. */
  public List<String> namesOf(List<Allocation> nodes) {
    List<String> names = new ArrayList<>();
    for (Allocation node : nodes) {
      String name = nameOf(node);
      if (name != null) {
        names.add(name);
      }
    }
    return names;
  }

  /**
   * Finds a held node that fills a slot by its name on the cluster's surface. A node that is still
   * being prepared is found too if it has a name.
   */
  public Optional<Allocation> findNamed(String name) {
    return Optional.ofNullable(byName().get(name));
  }

  /** Returns the nodes that {@link #findNamed} finds, by their names. */
  Map<String, Allocation> byName() {
    Map<String, Allocation> named = new HashMap<>();
    for (Allocation node : allocations) {
      String name = nameOf(node);
      if (name != null && node.fillsSlot()) {
        named.put(name, node);
      }
    }
    return named;
  }

  /** Finds an open allocation by its address. */
  public Optional<Allocation> findHeld(String publicIp) {
    return allocations.stream()
        .filter(a -> a.isOpen() && publicIp.equals(a.publicIp()))
        .findFirst();
  }

  /** Finds the open replacement for a swap of this allocation. */
  Optional<Allocation> findReplacement(String allocationId) {
    return allocations.stream()
        .filter(a -> a.isOpen() && allocationId.equals(a.replaces()))
        .findFirst();
  }

  /** True if a billing hold pauses new capacity. */
  boolean isPaused() {
    return hold != null && hold.stage() != Hold.Stage.GRACE;
  }

  /** Returns a copy with these allocations. */
  Cluster withAllocations(List<Allocation> held) {
    return copy(writes, held, setbacks);
  }

  /** Returns a copy with these allocations whose incomplete minimum was unwound at that time. */
  Cluster withAllocations(List<Allocation> held, @Nullable Long unwoundAtMillis) {
    return copy(
        writes,
        held,
        new Setbacks(setbacks.provisionFailures, unwoundAtMillis, setbacks.joinRefusedAtMillis));
  }

  /**
   * Returns a copy as if its declaration were written now with this ceiling, to try out a price.
   */
  public Cluster withCeiling(long cents, long nowMillis) {
    Draft draft = draft();
    draft.gangUnwoundAtMillis = null;
    if (declared != null) {
      draft.declared =
          declared.with(d -> d.ceiling = new Declaration.Ceiling(cents, nowMillis, nowMillis));
    }
    return draft.build();
  }

  /** Returns a copy with another revision. */
  Cluster withRevision(long stored) {
    return copy(new Writes(writes.version, stored, writes.lastAtMillis), allocations, setbacks);
  }

  /** Shares the list of allocations; a draft would copy it. */
  private Cluster copy(Writes counted, List<Allocation> held, Setbacks met) {
    return new Cluster(
        identity, controls, counted, declared, held, verdict, hold, alerts, met, standing, drill);
  }

  Draft draft() {
    return new Draft(this);
  }

  /** The fields of a cluster that a command may set. */
  static final class Draft {
    private final Cluster base;

    // Indexes, built at first use, so that thousands of grants or reclaims need one pass.
    private @Nullable Map<String, Integer> places;
    private @Nullable BitSet takenSlots;
    Posture posture;
    boolean writesArmed;
    boolean maintenance;
    long version;
    long revision;
    @Nullable Declaration declared;
    final List<Allocation> allocations;
    Verdict verdict;
    long lastWriteAtMillis;
    int provisionFailures;
    @Nullable Hold hold;
    Overrides overrides;
    @Nullable String description;
    @Nullable Long retiredAtMillis;
    Alerts alerts;
    @Nullable Long gangUnwoundAtMillis;
    @Nullable Long joinRefusedAtMillis;
    Standing standing;
    @Nullable Drill drill;

    private Draft(Cluster base) {
      this.base = base;
      this.posture = base.controls.posture;
      this.writesArmed = base.controls.writesArmed;
      this.maintenance = base.controls.maintenance;
      this.overrides = base.controls.overrides;
      this.description = base.controls.description;
      this.retiredAtMillis = base.controls.retiredAtMillis;
      this.version = base.writes.version;
      this.revision = base.writes.revision + 1;
      this.lastWriteAtMillis = base.writes.lastAtMillis;
      this.declared = base.declared;
      this.allocations = new ArrayList<>(base.allocations);
      this.verdict = base.verdict;
      this.hold = base.hold;
      this.alerts = base.alerts;
      this.provisionFailures = base.setbacks.provisionFailures;
      this.gangUnwoundAtMillis = base.setbacks.gangUnwoundAtMillis;
      this.joinRefusedAtMillis = base.setbacks.joinRefusedAtMillis;
      this.standing = base.standing;
      this.drill = base.drill;
    }

    /** Replaces the allocation of the same id. */
    void put(Allocation changed) {
      Integer at = places().get(changed.allocationId());
      if (at != null) {
        allocations.set(at, changed);
        takenSlots = null;
      }
    }

    /** Finds an allocation by its id. */
    Optional<Allocation> find(String allocationId) {
      return Optional.ofNullable(places().get(allocationId)).map(allocations::get);
    }

    /** Adds an allocation; its slot must have come from {@link #takeLowestFreeSlot}. */
    void add(Allocation added) {
      places().put(added.allocationId(), allocations.size());
      allocations.add(added);
    }

    /** Removes an allocation; returns false if it was not there. */
    boolean remove(Allocation gone) {
      places = null;
      takenSlots = null;
      return allocations.remove(gone);
    }

    /** Returns the lowest slot that is free, and marks it as taken. */
    int takeLowestFreeSlot() {
      BitSet taken = takenSlots;
      if (taken == null) {
        taken = new BitSet();
        for (Allocation allocation : allocations) {
          if (allocation.isOpen()) {
            taken.set(allocation.slot());
          }
        }
        takenSlots = taken;
      }
      int slot = taken.nextClearBit(0);
      taken.set(slot);
      return slot;
    }

    private Map<String, Integer> places() {
      Map<String, Integer> known = places;
      if (known == null) {
        known = new HashMap<>();
        for (int i = 0; i < allocations.size(); i++) {
          known.put(allocations.get(i).allocationId(), i);
        }
        places = known;
      }
      return known;
    }

    /** Returns the changed cluster with the next revision. */
    Cluster build() {
      return new Cluster(
          base.identity,
          new Controls(posture, writesArmed, maintenance, overrides, description, retiredAtMillis),
          new Writes(version, revision, lastWriteAtMillis),
          declared,
          allocations,
          verdict,
          hold,
          alerts,
          new Setbacks(provisionFailures, gangUnwoundAtMillis, joinRefusedAtMillis),
          standing,
          drill);
    }
  }
}
