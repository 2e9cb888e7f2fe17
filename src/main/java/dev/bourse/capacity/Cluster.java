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
 * All there is to know of one cluster at one moment. Immutable; a new one is made for each change.
 *
 * @param name unique among all clusters
 * @param orgId its owner
 * @param pool the market it buys in
 * @param kind which surface it belongs to
 * @param posture who decides how much it holds
 * @param writesArmed whether its declaration can be written
 * @param maintenance whether an operator is working on it; swaps are refused meanwhile
 * @param version the clients' counter: one more for each accepted client write, and when a
 *     declaration lapses
 * @param revision which state this is, as the store knows it: higher after each change of any kind,
 *     see {@link Revisions}
 * @param declared what it asks for, null until the first declaration
 * @param allocations held nodes and those being reclaimed, by slot
 * @param verdict why declared slots stay open
 * @param lastWriteAtMillis when the last client write was accepted; 0 when none was
 * @param provisionFailures grants unwound in a row
 * @param hold the billing hold in force, or null
 * @param overrides what an operator set for it beside its pool's terms
 * @param description what its organization says of it, or null
 * @param retiredAtMillis since when it is retired, null while it is not
 * @param alerts what it wants to be told of, and has been told
 * @param gangUnwoundAtMillis when the market last gave the rest of its minimum up, null when it
 *     never did since it was declared
 * @param standing its rank and its ceiling as of the last tick
 * @param drill its last drill, null when it never had one
 */
public record Cluster(
    String name,
    String orgId,
    String pool,
    Kind kind,
    Posture posture,
    boolean writesArmed,
    boolean maintenance,
    long version,
    long revision,
    @Nullable Declaration declared,
    List<Allocation> allocations,
    Verdict verdict,
    long lastWriteAtMillis,
    int provisionFailures,
    @Nullable Hold hold,
    Overrides overrides,
    @Nullable String description,
    @Nullable Long retiredAtMillis,
    Alerts alerts,
    @Nullable Long gangUnwoundAtMillis,
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
    if (version < 0 || revision < 0 || provisionFailures < 0) {
      throw new IllegalArgumentException(
          "cluster %s has version %s, revision %s and %s failures; none can be negative"
              .formatted(name, version, revision, provisionFailures));
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

  /** A cluster nobody has declared anything for. */
  public static Cluster created(
      String name, String orgId, String pool, Kind kind, Posture posture) {
    return new Cluster(
        name,
        orgId,
        pool,
        kind,
        posture,
        true,
        false,
        0,
        0,
        null,
        List.of(),
        Verdict.NONE,
        0,
        0,
        null,
        Overrides.NONE,
        null,
        null,
        Alerts.NONE,
        null,
        Standing.NONE,
        null);
  }

  /** A cluster there is not, so that a bid can be tried out before there is one. */
  public static Cluster bidding(
      String orgId, String pool, Declaration declared, Optional<Hold> hold) {
    Draft draft = created("", orgId, pool, Kind.VM, Posture.MARKET).draft();
    draft.declared = declared;
    draft.hold = hold.orElse(null);
    return draft.build();
  }

  /** Whether nothing can be declared for it any more. */
  public boolean isRetired() {
    return retiredAtMillis != null;
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
    Integer minGpus = declared == null ? null : declared.minGpus();
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
    return holding(held, gangUnwoundAtMillis);
  }

  /** The same with these allocations, and the rest of its minimum given up then. */
  Cluster holding(List<Allocation> held, @Nullable Long unwoundAtMillis) {
    return copy(revision, held, unwoundAtMillis);
  }

  private Cluster copy(long stored, List<Allocation> held, @Nullable Long unwoundAtMillis) {
    return new Cluster(
        name,
        orgId,
        pool,
        kind,
        posture,
        writesArmed,
        maintenance,
        version,
        stored,
        declared,
        held,
        verdict,
        lastWriteAtMillis,
        provisionFailures,
        hold,
        overrides,
        description,
        retiredAtMillis,
        alerts,
        unwoundAtMillis,
        standing,
        drill);
  }

  /** The same state by another revision. */
  Cluster withRevision(long stored) {
    return copy(stored, allocations, gangUnwoundAtMillis);
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
      this.posture = base.posture;
      this.writesArmed = base.writesArmed;
      this.maintenance = base.maintenance;
      this.version = base.version;
      this.declared = base.declared;
      this.allocations = new ArrayList<>(base.allocations);
      this.verdict = base.verdict;
      this.lastWriteAtMillis = base.lastWriteAtMillis;
      this.provisionFailures = base.provisionFailures;
      this.hold = base.hold;
      this.overrides = base.overrides;
      this.description = base.description;
      this.retiredAtMillis = base.retiredAtMillis;
      this.alerts = base.alerts;
      this.gangUnwoundAtMillis = base.gangUnwoundAtMillis;
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
          base.name,
          base.orgId,
          base.pool,
          base.kind,
          posture,
          writesArmed,
          maintenance,
          version,
          base.revision + 1,
          declared,
          allocations,
          verdict,
          lastWriteAtMillis,
          provisionFailures,
          hold,
          overrides,
          description,
          retiredAtMillis,
          alerts,
          gangUnwoundAtMillis,
          standing,
          drill);
    }
  }
}
