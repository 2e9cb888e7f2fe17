package dev.bourse.capacity;

import dev.bourse.core.Times;
import dev.bourse.json.JsonBytes;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A node held by a cluster, or on its way out. {@link #with} makes the next state of it.
 *
 * @param placement which node it is, and what its grant fixed
 * @param publicIp where the tenant reaches it; null while the provider has not assigned it
 * @param lifecycle how far it has come
 * @param protection its prices, and for how long rivals cannot take it
 * @param turnover its place in the next shrink, and its swap
 * @param pinned an operator's pin: neither swapped nor taken by the market
 * @param departure how it leaves
 * @param health the health of its machine while it is active; null while nothing is known
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
   * @param allocationId its id; a node granted again gets a new one
   * @param nodeId the machine, never shown on the VM surface
   * @param slot which declared slot it fills, from 0
   * @param keyIds the ssh keys installed at the grant
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
   * How far an allocation has come.
   *
   * @param state see {@link State}
   * @param grantedAtMillis when the market granted it
   * @param readyAtMillis since when its machine is ready though the grant is not complete; null
   *     while it is prepared and once it is active
   * @param activeAtMillis when it became reachable; null while provisioning
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
   *     likewise
   */
  public record Protection(
      @Nullable Long untilMillis,
      long grantCeilingCents,
      @Nullable Long seatCeilingCents,
      @Nullable Long grantPriceCents) {}

  /**
   * What may replace an allocation.
   *
   * @param nomination its rank among the standing release nominations from 1; 0 when not nominated
   * @param swapRequestedAtMillis since when a swap of it is in flight, null when none is
   * @param replaces the allocation whose swap it will complete, null for an ordinary one
   */
  public record Turnover(
      int nomination, @Nullable Long swapRequestedAtMillis, @Nullable String replaces) {
    static final Turnover NONE = new Turnover(0, null, null);
  }

  /**
   * How an allocation leaves.
   *
   * @param reclaim why and since when it is being taken back, null while it is open
   * @param notice why and when it will be taken back unless it wins a seat again; null while nobody
   *     takes it
   * @param withdrawnNoticeEndMillis the end of its last notice if that was withdrawn, because a new
   *     notice ends no later; null otherwise
   */
  public record Departure(
      @Nullable Reclaim reclaim, @Nullable Notice notice, @Nullable Long withdrawnNoticeEndMillis) {
    static final Departure NONE = new Departure(null, null, null);
  }

  /** The states a client sees. */
  public enum State {
    PROVISIONING,
    ACTIVE,
    RECLAIMING
  }

  /** Why a node is taken back, as activity rows spell it in lower case. */
  public enum Reason {
    OUTBID("outbid"),
    SCALE_DOWN("scale-down"),
    SWAP("swap"),
    HOLD("hold"),
    OPERATOR("operator"),
    /** The declaration came to its end. */
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

    /** True if the organization gave the node back, by a write or by the end that it declared. */
    public boolean isOwnChoice() {
      return inRow() == SCALE_DOWN;
    }

    /**
     * As an allocation's row has it: the release before reads every row of what is held, and none
     * whose reason it does not know. What it does not know is a scale-down there; the activity
     * tells which it was.
     */
    Reason inRow() {
      return this == LAPSED || this == SPENT ? SCALE_DOWN : this;
    }

    /**
     * The reason of this label.
     *
     * @throws IllegalArgumentException when there is none
     */
    static Reason of(@Nullable String label) {
      for (Reason reason : values()) {
        if (reason.label.equals(label)) {
          return reason;
        }
      }
      throw new IllegalArgumentException("no reason to release a node: " + label);
    }
  }

  /** Since when and why an allocation is being taken back; its billing ended then. */
  public record Reclaim(Reason reason, long atMillis) {}

  /**
   * That an active allocation will be taken back.
   *
   * @param reason why
   * @param endsAtMillis from when on
   */
  public record Notice(Reason reason, long endsAtMillis) {
    /** No notice is longer, so one that ends later was given by a clock that was ahead. */
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
   * ready, because nobody may work on a node that is not billed.
   *
   * @param ceilingCents the ceiling that the tick read
   * @param lockCents the price lock; null for none
   */
  static Allocation granted(
      Allotment.Orders.Grant grant,
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

  /** Held: provisioning or active. */
  public boolean isOpen() {
    return lifecycle.state != State.RECLAIMING;
  }

  /** True if it is not active yet or was granted within the last ten minutes. */
  public boolean isFresh(long nowMillis) {
    return lifecycle.state == State.PROVISIONING
        || nowMillis < lifecycle.grantedAtMillis + Standing.LAST_MILLIS;
  }

  /** Open and filling a declared slot, so not a replacement whose swap has not landed. */
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

  /** Returns it with this health. */
  Allocation examined(HeldHealth found) {
    return with(a -> a.health = found);
  }

  /** True if its holder is not charged, because the fault is the machine's. */
  boolean isCredited() {
    return health != null && health.isCredited();
  }

  /** Returns it with an address. */
  Allocation reachedAt(@Nullable String address) {
    return with(a -> a.publicIp = address);
  }

  /** Returns it with its keys written. */
  Allocation keyed() {
    return with(a -> a.keysDue = false);
  }

  /**
   * Returns it after a tick that read this ceiling. A ceiling lower than at the grant ends its
   * protection for good.
   */
  Allocation judged(long ceilingCents, boolean isSeated, long nowMillis) {
    boolean isGivenUp = isProtected(nowMillis) && ceilingCents < protection.grantCeilingCents;
    Long seat = protection.seatCeilingCents;
    boolean isSeatedAnew = isSeated && (seat == null || seat != ceilingCents);
    return isGivenUp || isSeatedAnew
        ? with(
            a -> {
              a.protectedUntilMillis = isGivenUp ? Long.valueOf(nowMillis) : a.protectedUntilMillis;
              a.seatCeilingCents = isSeated ? Long.valueOf(ceilingCents) : a.seatCeilingCents;
            })
        : this;
  }

  Allocation active(long nowMillis, @Nullable Long protectedUntil) {
    return with(
        a -> {
          a.state = State.ACTIVE;
          a.activeAtMillis = nowMillis;
          a.readyAtMillis = null;
          a.protectedUntilMillis = protectedUntil;
          a.replaces = null;
        });
  }

  /** Prepared, and waiting for the rest of its cluster's minimum; no replacement any more. */
  Allocation ready(long nowMillis) {
    return with(
        a -> {
          a.readyAtMillis = nowMillis;
          a.replaces = null;
        });
  }

  /** Whether its machine is ready though its grant is not complete. */
  public boolean isReady() {
    return lifecycle.state == State.PROVISIONING && lifecycle.readyAtMillis != null;
  }

  /** True if it was granted to a gang, so that its address appears when it becomes active. */
  boolean isOfGang() {
    return placement.minimumSlots != null && placement.minimumSlots > 1;
  }

  /**
   * Active in the place of another, whose protection it goes on with, and whose notice: else who
   * swaps a node would keep it for longer.
   */
  Allocation activeFor(Allocation replaced, long nowMillis) {
    return active(nowMillis, replaced.protection.untilMillis)
        .with(
            a -> {
              a.grantCeilingCents = replaced.protection.grantCeilingCents;
              a.seatCeilingCents = replaced.protection.seatCeilingCents;
              a.grantPriceCents = replaced.protection.grantPriceCents;
              a.notice = replaced.departure.notice;
              a.withdrawnNoticeEndMillis = replaced.departure.withdrawnNoticeEndMillis;
            });
  }

  /** Filling its slot by itself: the node it was to replace is gone already. */
  Allocation standingAlone() {
    return with(a -> a.replaces = null);
  }

  /** Returns it under this notice, or under none, without a trace of an earlier one. */
  Allocation noticed(@Nullable Notice given) {
    return with(
        a -> {
          a.notice = given;
          a.withdrawnNoticeEndMillis = null;
        });
  }

  /** Returns it with its notice withdrawn; the end stays for the next notice. */
  Allocation noticeWithdrawn() {
    return with(
        a -> {
          a.withdrawnNoticeEndMillis =
              a.notice == null ? null : Long.valueOf(a.notice.endsAtMillis());
          a.notice = null;
        });
  }

  Allocation nominated(int rank) {
    return with(a -> a.nomination = rank);
  }

  /** With a swap in flight since then, or with none. */
  Allocation swapping(@Nullable Long requestedAtMillis, int rank) {
    return with(
        a -> {
          a.nomination = rank;
          a.swapRequestedAtMillis = requestedAtMillis;
        });
  }

  Allocation reclaiming(Reason reason, long nowMillis) {
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

  Allocation pinned(boolean pin) {
    return with(a -> a.pinned = pin);
  }

  /** Writes the node as the capacity state shows it. */
  void tell(JsonBytes json) {
    Notice given = departure.notice;
    json.put("public_ip", publicIp)
        .put("granted_at", Times.rfc3339(lifecycle.grantedAtMillis))
        .put("state", lifecycle.state.name().toLowerCase(Locale.ROOT))
        .put("slot", placement.slot)
        .put("swap", isSwapping())
        .put("protected_until", Times.rfc3339OrNull(protectedUntilWhileActive()))
        .put("reclaim_at", given == null ? null : Times.rfc3339(given.endsAtMillis()))
        .put("reclaim_reason", given == null ? null : given.reason().label())
        .object("health", fields -> HeldHealth.tell(fields, health, lifecycle.grantedAtMillis));
  }

  /** The same with some of it changed. */
  Allocation with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return draft.build();
  }

  /** An allocation being changed; what is not set stays. */
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
