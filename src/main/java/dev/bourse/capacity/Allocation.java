package dev.bourse.capacity;

import dev.bourse.schemas.vm.AllocationJson;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A node that a cluster holds or that is being reclaimed from it. {@link #with} returns its next
 * state.
 *
 * @param placement its node and the other values that its grant fixed
 * @param publicIp the address at which the tenant reaches it; null until the provider assigns one
 * @param lifecycle its state and the times of its states
 * @param protection its prices and its protection
 * @param turnover its nomination and its swap
 * @param pinned true if an operator pinned it: it cannot be swapped or taken by the market
 * @param departure its reclaim and its notice
 * @param health the health of its machine while it is active; null if unknown
 */
public record Allocation(
    Placement placement,
    @Nullable String publicIp,
    Lifecycle lifecycle,
    Protection protection,
    Turnover turnover,
    boolean pinned,
    Departure departure,
    @Nullable HeldHealth health) {

  public Allocation {
    if (placement.slot < 0 || turnover.nomination < 0 || protection.grantCeilingCents < 0) {
      throw new IllegalArgumentException(
          "allocation %s has slot %s, nomination %s and ceiling %s; none can be negative"
              .formatted(
                  placement.allocationId,
                  placement.slot,
                  turnover.nomination,
                  protection.grantCeilingCents));
    }
    if ((lifecycle.state == State.RECLAIMING) != (departure.reclaim != null)) {
      throw new IllegalArgumentException(
          "allocation %s is %s with reclaim %s; a reclaim belongs to RECLAIMING, and only to it"
              .formatted(placement.allocationId, lifecycle.state, departure.reclaim));
    }
  }

  /**
   * The part of an allocation that never changes.
   *
   * @param allocationId its id; each grant of a node has its own
   * @param nodeId the id of the machine, which the VM surface never shows
   * @param slot the declared slot that it fills, from 0
   * @param keyIds the ids of the SSH keys that its grant installs
   * @param minimumSlots the number of nodes that must be ready before it becomes active, as of the
   *     tick that granted it; null if an earlier release granted it
   */
  public record Placement(
      String allocationId,
      String nodeId,
      int slot,
      List<String> keyIds,
      @Nullable Integer minimumSlots) {
    public Placement {
      keyIds = List.copyOf(keyIds);
    }
  }

  /**
   * The state of an allocation and the times of its states.
   *
   * @param state see {@link State}
   * @param grantedAtMillis when the market granted it
   * @param readyAtMillis when its machine became ready while the rest of the gang was not; null
   *     while the machine is being prepared and when it is active
   * @param activeAtMillis when it became active; null while provisioning
   * @param keysDue true until the keys of a gang's node are on its machine, because they are
   *     written only when the gang's minimum is ready; false for other nodes
   */
  public record Lifecycle(
      State state,
      long grantedAtMillis,
      @Nullable Long readyAtMillis,
      @Nullable Long activeAtMillis,
      boolean keysDue) {
    static Lifecycle granted(long nowMillis, boolean keysDue) {
      return new Lifecycle(State.PROVISIONING, nowMillis, null, null, keysDue);
    }
  }

  /**
   * The prices of an allocation, and its protection.
   *
   * @param untilMillis the end of its protection: until then rivals cannot take it, and it costs no
   *     more than at its grant; null while it is provisioning, unless it lost its protection
   *     already
   * @param grantCeilingCents the ceiling read by the tick that granted it; protection ends at the
   *     tick that reads a lower ceiling
   * @param seatCeilingCents the ceiling read by the last tick that seated it; null if an earlier
   *     release granted it
   * @param grantPriceCents its organization's price per GPU-hour at the tick that granted it; null
   *     if an earlier release granted it or there is no price lock
   */
  public record Protection(
      @Nullable Long untilMillis,
      long grantCeilingCents,
      @Nullable Long seatCeilingCents,
      @Nullable Long grantPriceCents) {}

  /**
   * The nomination and the swap of an allocation.
   *
   * @param nomination its rank among the standing release nominations, from 1; 0 if not nominated
   * @param swapRequestedAtMillis when its swap in flight was requested; null without one
   * @param replaces the allocation whose swap it will complete; null if it is no replacement
   */
  public record Turnover(
      int nomination, @Nullable Long swapRequestedAtMillis, @Nullable String replaces) {
    static final Turnover NONE = new Turnover(0, null, null);
  }

  /**
   * The reclaim and the notice of an allocation.
   *
   * @param reclaim its reclaim; null while it is open
   * @param notice its notice: the market reclaims it at the end unless it wins a seat again; null
   *     without one
   * @param withdrawnNoticeEndMillis the end of its last notice if that was withdrawn, because a new
   *     notice ends no later; null otherwise
   */
  public record Departure(
      @Nullable Reclaim reclaim, @Nullable Notice notice, @Nullable Long withdrawnNoticeEndMillis) {
    static final Departure NONE = new Departure(null, null, null);
  }

  /** The states that a client sees. */
  public enum State {
    PROVISIONING,
    ACTIVE,
    RECLAIMING
  }

  /** The reasons for a reclaim. */
  public enum Reason {
    OUTBID("outbid"),
    SCALE_DOWN("scale-down"),
    SWAP("swap"),
    HOLD("hold"),
    OPERATOR("operator"),
    /** The declaration reached its end. */
    LAPSED("lapsed"),
    /** The declaration's budget was used up. */
    SPENT("spent"),
    /** The machine could not be prepared; never billed. */
    UNWOUND("unwound");

    private final String label;

    Reason(String label) {
      this.label = label;
    }

    public String label() {
      return label;
    }

    /** True if the organization released the node, by a write or by the end that it declared. */
    public boolean isOwnChoice() {
      return inRow() == SCALE_DOWN;
    }

    /**
     * Returns the reason that an allocation's row stores. The previous release fails at rows whose
     * reason it does not know, so they store {@link #SCALE_DOWN}; the activity has the true reason.
     */
    Reason inRow() {
      return this == LAPSED || this == SPENT ? SCALE_DOWN : this;
    }

    /**
     * Returns the reason with this label.
     *
     * @throws IllegalArgumentException if no reason has it
     */
    static Reason of(@Nullable String label) {
      for (Reason reason : values()) {
        if (reason.label.equals(label)) {
          return reason;
        }
      }
      throw new IllegalArgumentException("unknown reason to release a node: " + label);
    }
  }

  /** The reclaim of an allocation: its reason, and when it began and billing ended. */
  public record Reclaim(Reason reason, long atMillis) {}

  /**
   * A notice that an active allocation will be reclaimed.
   *
   * @param reason the reason for the reclaim
   * @param endsAtMillis the earliest time of the reclaim
   */
  public record Notice(Reason reason, long endsAtMillis) {
    /** The longest notice. A notice that ends later was given by a clock that was ahead. */
    public static final long LONGEST_MILLIS = 3_600_000;
  }

  /** Returns an active node without protection that no market granted. */
  public static Allocation held(
      String allocationId,
      String nodeId,
      @Nullable String publicIp,
      int slot,
      long nowMillis,
      long ceilingCents) {
    return new Allocation(
        new Placement(allocationId, nodeId, slot, List.of(), 1),
        publicIp,
        new Lifecycle(State.ACTIVE, nowMillis, null, nowMillis, false),
        new Protection(null, ceilingCents, ceilingCents, null),
        Turnover.NONE,
        false,
        Departure.NONE,
        null);
  }

  /**
   * Returns a new grant. A node of a gang has no address and no keys until the gang's minimum is
   * ready, because a tenant must not use a node that is not billed.
   *
   * @param ceilingCents the ceiling that the tick read
   * @param lockCents the price lock; null for none
   */
  static Allocation granted(
      MarketTransitions.Orders.Grant grant,
      int slot,
      long nowMillis,
      long ceilingCents,
      @Nullable Long lockCents) {
    boolean isOfGang = grant.isOfGang();
    return new Allocation(
        new Placement(
            grant.allocationId(), grant.nodeId(), slot, grant.keyIds(), grant.minimumSlots()),
        isOfGang ? null : grant.publicIp(),
        Lifecycle.granted(nowMillis, isOfGang),
        new Protection(null, ceilingCents, ceilingCents, lockCents),
        new Turnover(0, null, grant.replaces()),
        false,
        Departure.NONE,
        null);
  }

  public String allocationId() {
    return placement.allocationId;
  }

  public String nodeId() {
    return placement.nodeId;
  }

  public int slot() {
    return placement.slot;
  }

  public List<String> keyIds() {
    return placement.keyIds;
  }

  public @Nullable Integer minimumSlots() {
    return placement.minimumSlots;
  }

  public State state() {
    return lifecycle.state;
  }

  public long grantedAtMillis() {
    return lifecycle.grantedAtMillis;
  }

  public @Nullable Long activeAtMillis() {
    return lifecycle.activeAtMillis;
  }

  public boolean keysDue() {
    return lifecycle.keysDue;
  }

  public @Nullable Long protectedUntilMillis() {
    return protection.untilMillis;
  }

  public int nomination() {
    return turnover.nomination;
  }

  public @Nullable Long swapRequestedAtMillis() {
    return turnover.swapRequestedAtMillis;
  }

  public @Nullable String replaces() {
    return turnover.replaces;
  }

  public @Nullable Reclaim reclaim() {
    return departure.reclaim;
  }

  public @Nullable Notice notice() {
    return departure.notice;
  }

  /** True if it is held: provisioning or active. */
  public boolean isOpen() {
    return lifecycle.state != State.RECLAIMING;
  }

  /** True if it is not active yet or was granted within the last ten minutes. */
  public boolean isFresh(long nowMillis) {
    return lifecycle.state == State.PROVISIONING
        || nowMillis < lifecycle.grantedAtMillis + Standing.LAST_MILLIS;
  }

  /** True if it is open and fills a declared slot, so it is no replacement of a swap in flight. */
  public boolean fillsSlot() {
    return isOpen() && turnover.replaces == null;
  }

  public boolean isSwapping() {
    return turnover.swapRequestedAtMillis != null;
  }

  /** True if rivals cannot take it at a tick at this time that reads this ceiling. */
  public boolean isShielded(long nowMillis, long ceilingCents) {
    return pinned || (isProtected(nowMillis) && ceilingCents >= protection.grantCeilingCents);
  }

  /** True if its protection has neither expired nor been given up. */
  private boolean isProtected(long nowMillis) {
    Long until = protection.untilMillis;
    return until == null ? lifecycle.state == State.PROVISIONING : nowMillis < until;
  }

  /** Returns the end of its protection for answers; null before it is active. */
  public @Nullable Long protectedUntilWhileActive() {
    return lifecycle.state == State.PROVISIONING ? null : protection.untilMillis;
  }

  /** Returns this allocation with this health. */
  Allocation withHealth(HeldHealth found) {
    return with(a -> a.health = found);
  }

  /** True if its holder is not charged because its machine is at fault. */
  boolean isCredited() {
    return health != null && health.isCredited();
  }

  /** Returns this allocation with an address. */
  Allocation withAddress(@Nullable String address) {
    return with(a -> a.publicIp = address);
  }

  /** Returns this allocation with its keys written. */
  Allocation withKeysWritten() {
    return with(a -> a.keysDue = false);
  }

  /**
   * Returns this allocation after a tick that read this ceiling. A ceiling lower than at the grant
   * ends its protection for good.
   */
  Allocation afterTick(long ceilingCents, boolean isSeated, long nowMillis) {
    boolean isGivenUp = isProtected(nowMillis) && ceilingCents < protection.grantCeilingCents;
    Long seat = protection.seatCeilingCents;
    boolean isSeatChanged = isSeated && (seat == null || seat != ceilingCents);
    return isGivenUp || isSeatChanged
        ? with(
            a -> {
              a.protectedUntilMillis = isGivenUp ? Long.valueOf(nowMillis) : a.protectedUntilMillis;
              a.seatCeilingCents = isSeated ? Long.valueOf(ceilingCents) : a.seatCeilingCents;
            })
        : this;
  }

  Allocation activate(long nowMillis, @Nullable Long protectedUntil) {
    return with(
        a -> {
          a.state = State.ACTIVE;
          a.activeAtMillis = nowMillis;
          a.readyAtMillis = null;
          a.protectedUntilMillis = protectedUntil;
          a.replaces = null;
        });
  }

  /**
   * Returns this allocation as ready: it waits for the rest of the gang's minimum and is no longer
   * a replacement.
   */
  Allocation markReady(long nowMillis) {
    return with(
        a -> {
          a.readyAtMillis = nowMillis;
          a.replaces = null;
        });
  }

  /** True if its machine is ready but it is not active yet. */
  public boolean isReady() {
    return lifecycle.state == State.PROVISIONING && lifecycle.readyAtMillis != null;
  }

  /** True if it was granted to a gang, so that its address appears when it becomes active. */
  boolean isOfGang() {
    return placement.minimumSlots != null && placement.minimumSlots > 1;
  }

  /**
   * Returns this allocation as active in the place of another. It continues the protection and the
   * notice of that node, because a swap must not prolong them.
   */
  Allocation activateInPlaceOf(Allocation replaced, long nowMillis) {
    return activate(nowMillis, replaced.protection.untilMillis)
        .with(
            a -> {
              a.grantCeilingCents = replaced.protection.grantCeilingCents;
              a.seatCeilingCents = replaced.protection.seatCeilingCents;
              a.grantPriceCents = replaced.protection.grantPriceCents;
              a.notice = replaced.departure.notice;
              a.withdrawnNoticeEndMillis = replaced.departure.withdrawnNoticeEndMillis;
            });
  }

  /**
   * Returns this allocation as an ordinary one, because the node that it was to replace is gone.
   */
  Allocation withoutReplaces() {
    return with(a -> a.replaces = null);
  }

  /**
   * Returns this allocation with this notice, or with none; the end of a withdrawn notice is
   * cleared.
   */
  Allocation withNotice(@Nullable Notice given) {
    return with(
        a -> {
          a.notice = given;
          a.withdrawnNoticeEndMillis = null;
        });
  }

  /** Returns this allocation with its notice withdrawn; the end stays for the next notice. */
  Allocation withdrawNotice() {
    return with(
        a -> {
          a.withdrawnNoticeEndMillis =
              a.notice == null ? null : Long.valueOf(a.notice.endsAtMillis());
          a.notice = null;
        });
  }

  Allocation withNomination(int rank) {
    return with(a -> a.nomination = rank);
  }

  /** Returns this allocation with a swap in flight since that time, or with none. */
  Allocation withSwap(@Nullable Long requestedAtMillis, int rank) {
    return with(
        a -> {
          a.nomination = rank;
          a.swapRequestedAtMillis = requestedAtMillis;
        });
  }

  Allocation startReclaim(Reason reason, long nowMillis) {
    return with(
        a -> {
          a.state = State.RECLAIMING;
          a.nomination = 0;
          a.swapRequestedAtMillis = null;
          a.replaces = null;
          a.reclaim = new Reclaim(reason.inRow(), nowMillis);
          a.notice = null;
          a.withdrawnNoticeEndMillis = null;
          a.readyAtMillis = null;
        });
  }

  Allocation withPin(boolean pin) {
    return with(a -> a.pinned = pin);
  }

  /** Returns the node as the capacity state shows it. */
  AllocationJson toJson() {
    Notice given = departure.notice;
    return new AllocationJson(
        publicIp,
        lifecycle.grantedAtMillis,
        lifecycle.state.name().toLowerCase(Locale.ROOT),
        placement.slot,
        isSwapping(),
        protectedUntilWhileActive(),
        given == null ? null : given.endsAtMillis(),
        given == null ? null : given.reason().label(),
        HeldHealth.toJson(health, lifecycle.grantedAtMillis));
  }

  /** Returns a copy with some fields changed. */
  Allocation with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return draft.build();
  }

  /** The fields of an allocation that a change may set. */
  static final class Draft {
    private final Allocation base;
    @Nullable String publicIp;
    State state;
    long grantedAtMillis;
    @Nullable Long activeAtMillis;
    @Nullable Long protectedUntilMillis;
    long grantCeilingCents;
    boolean pinned;
    int nomination;
    @Nullable Long swapRequestedAtMillis;
    @Nullable String replaces;
    @Nullable Reclaim reclaim;
    @Nullable Notice notice;
    @Nullable Long withdrawnNoticeEndMillis;
    @Nullable Long readyAtMillis;
    @Nullable Long seatCeilingCents;
    @Nullable Long grantPriceCents;
    boolean keysDue;
    @Nullable HeldHealth health;

    private Draft(Allocation base) {
      this.base = base;
      this.publicIp = base.publicIp;
      this.state = base.lifecycle.state;
      this.grantedAtMillis = base.lifecycle.grantedAtMillis;
      this.readyAtMillis = base.lifecycle.readyAtMillis;
      this.activeAtMillis = base.lifecycle.activeAtMillis;
      this.keysDue = base.lifecycle.keysDue;
      this.protectedUntilMillis = base.protection.untilMillis;
      this.grantCeilingCents = base.protection.grantCeilingCents;
      this.seatCeilingCents = base.protection.seatCeilingCents;
      this.grantPriceCents = base.protection.grantPriceCents;
      this.nomination = base.turnover.nomination;
      this.swapRequestedAtMillis = base.turnover.swapRequestedAtMillis;
      this.replaces = base.turnover.replaces;
      this.pinned = base.pinned;
      this.reclaim = base.departure.reclaim;
      this.notice = base.departure.notice;
      this.withdrawnNoticeEndMillis = base.departure.withdrawnNoticeEndMillis;
      this.health = base.health;
    }

    private Allocation build() {
      return new Allocation(
          base.placement,
          publicIp,
          new Lifecycle(state, grantedAtMillis, readyAtMillis, activeAtMillis, keysDue),
          new Protection(
              protectedUntilMillis, grantCeilingCents, seatCeilingCents, grantPriceCents),
          new Turnover(nomination, swapRequestedAtMillis, replaces),
          pinned,
          new Departure(reclaim, notice, withdrawnNoticeEndMillis),
          health);
    }
  }
}
