package dev.bourse.capacity;

import dev.bourse.json.JsonBytes;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The state of one cluster at one moment. Immutable: {@link #draft} makes the next one.
 *
 * @param identity what it is called, whose it is and where it buys
 * @param controls what its operators and its organization set beside the declaration
 * @param writes its counters, and when it was last written
 * @param declared what it asks for, null until the first declaration
 * @param allocations held nodes and those being reclaimed, by slot
 * @param verdict why declared slots stay open
 * @param hold the billing hold in force, or null
 * @param alerts what it wants to be told of, and has been told
 * @param setbacks grants that came to nothing
 * @param standing its rank and its ceiling as of the last tick
 * @param drill its last drill, null when it never had one
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

  /** The surfaces. */
  public enum Kind {
    VM,
    K8S
  }

  /** Who decides how much a cluster holds. */
  public enum Posture {
    /** Its declaration and the market. */
    MARKET,
    /** An operator; the declaration can only shrink. */
    STATIC
  }

  /**
   * The part of a cluster that never changes.
   *
   * @param name unique among all clusters
   * @param orgId its owner
   * @param pool the market it buys in
   * @param kind which surface it belongs to
   */
  public record Identity(String name, String orgId, String pool, Kind kind) {}

  /**
   * What operators and the organization set for a cluster beside its declaration.
   *
   * @param posture who decides how much it holds
   * @param writesArmed whether its declaration can be written
   * @param maintenance whether an operator is working on it; swaps are refused meanwhile
   * @param overrides what an operator set for it beside its pool's terms
   * @param description what its organization says of it, or null
   * @param retiredAtMillis since when it is retired, null while it is not
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
   * @param version the clients' counter: one more for each accepted client write, and when a
   *     declaration lapses
   * @param revision which state this is, as the store knows it: higher after each change of any
   *     kind, see {@link Revisions}
   * @param lastAtMillis when the last client write was accepted; 0 when none was
   */
  public record Writes(long version, long revision, long lastAtMillis) {}

  /**
   * Grants that came to nothing.
   *
   * @param provisionFailures grants unwound in a row
   * @param gangUnwoundAtMillis when the market last gave the rest of the cluster's minimum up, null
   *     when it never did since it was declared
   */
  public record Setbacks(int provisionFailures, @Nullable Long gangUnwoundAtMillis) {
    static final Setbacks NONE = new Setbacks(0, null);
  }

  /** A cluster nobody has declared anything for. */
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

  /** The same with a first declaration and these nodes, though no client has written yet. */
  public Cluster startingWith(Declaration first, List<Allocation> held) {
    Draft draft = draft();
    draft.revision = revision();
    draft.declared = first;
    draft.allocations.addAll(held);
    return draft.build();
  }

  /** A cluster there is not, so that a bid can be tried out before there is one. */
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

  /** Whether nothing can be declared for it any more. */
  public boolean isRetired() {
    return controls.retiredAtMillis != null;
  }

  /**
   * Whether nothing happens to it any more: it is retired, holds no node, and neither the market
   * nor billing has anything left to do. {@link ClusterRows#SETTLED} says the same of a row.
   */
  boolean isSettled() {
    return isRetired()
        && allocations.isEmpty()
        && hold == null
        && standing.awaitedSlots() == 0
        && standing.gaveUpAtMillis() == null
        && (declared == null || declared.untilMillis() == null);
  }

  /** Whole nodes declared. */
  public int declaredSlots(int gpusPerNode) {
    return declared == null ? 0 : declared.maxGpus() / gpusPerNode;
  }

  /** Fewer nodes than this are worth nothing to it: at least 1, which is no minimum. */
  public int minimumSlots(int gpusPerNode) {
    Integer minGpus = Declaration.conditionsOf(declared).minGpus();
    return minGpus == null || declaredSlots(gpusPerNode) == 0
        ? 1
        : Math.max(1, -Math.floorDiv(-minGpus, gpusPerNode));
  }

  /** Declared ceiling in cents per GPU-hour; 0 before the first declaration. */
  public long ceilingCents() {
    return declared == null ? 0 : declared.ceilingCents();
  }

  /** Allocations that fill declared slots, in the order in which a shrink would take them. */
  public List<Allocation> releaseOrder() {
    return releaseOrder(RELEASE_ORDER);
  }

  /** The same by another order, and as a shrink would take them where that has them equal. */
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

  /** Slots that an open allocation fills. */
  public int filledSlots() {
    int filled = 0;
    for (Allocation allocation : allocations) {
      if (allocation.fillsSlot()) {
        filled++;
      }
    }
    return filled;
  }

  /** Declared slots without an open allocation. */
  public int pending(int gpusPerNode) {
    return Math.max(0, declaredSlots(gpusPerNode) - filledSlots());
  }

  /** The allocation with this id, held or being reclaimed. */
  public Optional<Allocation> find(String allocationId) {
    return allocations.stream().filter(a -> a.allocationId().equals(allocationId)).findFirst();
  }

  /** The open allocation at this address. */
  public Optional<Allocation> findHeld(String publicIp) {
    return allocations.stream()
        .filter(a -> a.isOpen() && publicIp.equals(a.publicIp()))
        .findFirst();
  }

  /** The replacement on its way for a swap of this allocation. */
  Optional<Allocation> findReplacement(String allocationId) {
    return allocations.stream()
        .filter(a -> a.isOpen() && allocationId.equals(a.replaces()))
        .findFirst();
  }

  /** Whether a billing hold keeps new capacity away. */
  boolean isPaused() {
    return hold != null && hold.stage() != Hold.Stage.GRACE;
  }

  /** The same with these allocations. */
  Cluster holding(List<Allocation> held) {
    return copy(writes, held, setbacks);
  }

  /** The same with these allocations, and the rest of its minimum given up then. */
  Cluster holding(List<Allocation> held, @Nullable Long unwoundAtMillis) {
    return copy(writes, held, new Setbacks(setbacks.provisionFailures, unwoundAtMillis));
  }

  /** The same state by another revision. */
  Cluster withRevision(long stored) {
    return copy(new Writes(writes.version, stored, writes.lastAtMillis), allocations, setbacks);
  }

  /** Keeps the list of allocations without a copy of it, as a draft cannot. */
  private Cluster copy(Writes counted, List<Allocation> held, Setbacks met) {
    return new Cluster(
        identity, controls, counted, declared, held, verdict, hold, alerts, met, standing, drill);
  }

  /** Writes what the cluster's own parts show in the capacity state. */
  void tell(JsonBytes json) {
    if (declared == null) {
      json.put("declared", null);
    } else {
      json.object("declared", fields -> declared.tell(fields, verdict));
    }
    standing.tell(json);
  }

  Draft draft() {
    return new Draft(this);
  }

  /** A cluster being changed; what is not set stays. */
  static final class Draft {
    private final Cluster base;

    // Made when first needed, so that thousands of grants or reclaims cost one pass each.
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

    /** The allocation of this id. */
    Optional<Allocation> find(String allocationId) {
      return Optional.ofNullable(places().get(allocationId)).map(allocations::get);
    }

    /** Adds an allocation; its slot must have come from {@link #takeLowestFreeSlot}. */
    void add(Allocation added) {
      places().put(added.allocationId(), allocations.size());
      allocations.add(added);
    }

    /** Removes an allocation; whether it was there. */
    boolean remove(Allocation gone) {
      places = null;
      takenSlots = null;
      return allocations.remove(gone);
    }

    /** A slot that no open allocation fills; the next call gives the next. */
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

    /** The changed cluster, one revision on. */
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
          new Setbacks(provisionFailures, gangUnwoundAtMillis),
          standing,
          drill);
    }
  }
}
