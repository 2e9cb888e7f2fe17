package dev.bourse.capacity;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A node held by a cluster, or on its way out.
 *
 * @param allocationId its id; a node granted again gets a new one
 * @param nodeId the machine, never shown on the VM surface
 * @param publicIp where the tenant reaches it; null while the provider has not assigned it
 * @param slot which declared slot it fills, from 0
 * @param state see {@link State}
 * @param grantedAtMillis when the market granted it
 * @param activeAtMillis when it became reachable; null while provisioning
 * @param protectedUntilMillis the end of its protection: until then rivals cannot take it, and it
 *     costs no more than at its grant; null while it is provisioning, unless it lost its protection
 *     already
 * @param grantCeilingCents the ceiling read by the tick that granted it; protection ends at the
 *     tick that reads a lower ceiling
 * @param pinned an operator's pin: neither swapped nor taken by the market
 * @param nomination its rank among the standing release nominations from 1; 0 when not nominated
 * @param swapRequestedAtMillis since when a swap of it is in flight, null when none is
 * @param replaces the allocation whose swap it will complete, null for an ordinary one
 * @param keyIds the ssh keys installed at the grant
 * @param reclaim why and since when it is being taken back, null while it is open
 * @param notice why and when it will be taken back unless it wins a seat again; null while nobody
 *     takes it
 * @param withdrawnNoticeEndMillis the end of its last notice if that was withdrawn, because a new
 *     notice ends no later; null otherwise
 * @param readyAtMillis since when its machine is ready though the grant is not complete; null while
 *     it is prepared and once it is active
 * @param seatCeilingCents the ceiling read by the last tick that seated it; null if an earlier
 *     release granted it
 * @param grantPriceCents its organization's price per GPU-hour at the tick that granted it; null
 *     likewise
 * @param minimumSlots the number of nodes that must be ready before it becomes active, as of the
 *     tick that granted it; null likewise
 * @param keysDue true until the keys of a gang's node are on its machine, because they are written
 *     only when the gang's minimum is ready; false for other nodes
 * @param health the health of its machine while it is active; null while nothing is known
 */
public record Allocation(
    String allocationId,
    String nodeId,
    @Nullable String publicIp,
    int slot,
    State state,
    long grantedAtMillis,
    @Nullable Long activeAtMillis,
    @Nullable Long protectedUntilMillis,
    long grantCeilingCents,
    boolean pinned,
    int nomination,
    @Nullable Long swapRequestedAtMillis,
    @Nullable String replaces,
    List<String> keyIds,
    @Nullable Reclaim reclaim,
    @Nullable Notice notice,
    @Nullable Long withdrawnNoticeEndMillis,
    @Nullable Long readyAtMillis,
    @Nullable Long seatCeilingCents,
    @Nullable Long grantPriceCents,
    @Nullable Integer minimumSlots,
    boolean keysDue,
    @Nullable HeldHealth health) {

  public Allocation {
    keyIds = List.copyOf(keyIds);
    if (slot < 0 || nomination < 0 || grantCeilingCents < 0) {
      throw new IllegalArgumentException(
          "allocation %s has slot %s, nomination %s and ceiling %s; none can be negative"
              .formatted(allocationId, slot, nomination, grantCeilingCents));
    }
    if ((state == State.RECLAIMING) != (reclaim != null)) {
      throw new IllegalArgumentException(
          "allocation %s is %s with reclaim %s; a reclaim belongs to RECLAIMING, and only to it"
              .formatted(allocationId, state, reclaim));
    }
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
        allocationId,
        nodeId,
        publicIp,
        slot,
        State.ACTIVE,
        nowMillis,
        nowMillis,
        null,
        ceilingCents,
        false,
        0,
        null,
        null,
        List.of(),
        null,
        null,
        null,
        null,
        ceilingCents,
        null,
        1,
        false,
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
        grant.allocationId(),
        grant.nodeId(),
        isOfGang ? null : grant.publicIp(),
        slot,
        State.PROVISIONING,
        nowMillis,
        null,
        null,
        ceilingCents,
        false,
        0,
        null,
        grant.replaces(),
        grant.keyIds(),
        null,
        null,
        null,
        null,
        ceilingCents,
        lockCents,
        grant.minimumSlots(),
        isOfGang,
        null);
  }

  /** Held: provisioning or active. */
  public boolean isOpen() {
    return state != State.RECLAIMING;
  }

  /** True if it is not active yet or was granted within the last ten minutes. */
  public boolean isFresh(long nowMillis) {
    return state == State.PROVISIONING || nowMillis < grantedAtMillis + Standing.LAST_MILLIS;
  }

  /** Open and filling a declared slot, so not a replacement whose swap has not landed. */
  public boolean fillsSlot() {
    return isOpen() && replaces == null;
  }

  public boolean isSwapping() {
    return swapRequestedAtMillis != null;
  }

  /** True if rivals cannot take it at a tick at this time that reads this ceiling. */
  public boolean isShielded(long nowMillis, long ceilingCents) {
    return pinned || (isProtected(nowMillis) && ceilingCents >= grantCeilingCents);
  }

  /** True if its protection has neither expired nor been given up. */
  private boolean isProtected(long nowMillis) {
    return protectedUntilMillis == null
        ? state == State.PROVISIONING
        : nowMillis < protectedUntilMillis;
  }

  /** Returns the end of its protection for answers; null before it is active. */
  public @Nullable Long protectedUntilWhileActive() {
    return state == State.PROVISIONING ? null : protectedUntilMillis;
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
    boolean isGivenUp = isProtected(nowMillis) && ceilingCents < grantCeilingCents;
    boolean isSeatedAnew =
        isSeated && (seatCeilingCents == null || seatCeilingCents != ceilingCents);
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
    return state == State.PROVISIONING && readyAtMillis != null;
  }

  /** True if it was granted to a gang, so that its address appears when it becomes active. */
  boolean isOfGang() {
    return minimumSlots != null && minimumSlots > 1;
  }

  /**
   * Active in the place of another, whose protection it goes on with, and whose notice: else who
   * swaps a node would keep it for longer.
   */
  Allocation activeFor(Allocation replaced, long nowMillis) {
    return active(nowMillis, replaced.protectedUntilMillis)
        .with(
            a -> {
              a.grantCeilingCents = replaced.grantCeilingCents;
              a.seatCeilingCents = replaced.seatCeilingCents;
              a.grantPriceCents = replaced.grantPriceCents;
              a.notice = replaced.notice;
              a.withdrawnNoticeEndMillis = replaced.withdrawnNoticeEndMillis;
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
          a.withdrawnNoticeEndMillis = notice == null ? null : Long.valueOf(notice.endsAtMillis());
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
      this.state = base.state;
      this.grantedAtMillis = base.grantedAtMillis;
      this.activeAtMillis = base.activeAtMillis;
      this.protectedUntilMillis = base.protectedUntilMillis;
      this.grantCeilingCents = base.grantCeilingCents;
      this.pinned = base.pinned;
      this.nomination = base.nomination;
      this.swapRequestedAtMillis = base.swapRequestedAtMillis;
      this.replaces = base.replaces;
      this.reclaim = base.reclaim;
      this.notice = base.notice;
      this.withdrawnNoticeEndMillis = base.withdrawnNoticeEndMillis;
      this.readyAtMillis = base.readyAtMillis;
      this.seatCeilingCents = base.seatCeilingCents;
      this.grantPriceCents = base.grantPriceCents;
      this.keysDue = base.keysDue;
      this.health = base.health;
    }

    private Allocation build() {
      return new Allocation(
          base.allocationId,
          base.nodeId,
          publicIp,
          base.slot,
          state,
          grantedAtMillis,
          activeAtMillis,
          protectedUntilMillis,
          grantCeilingCents,
          pinned,
          nomination,
          swapRequestedAtMillis,
          replaces,
          base.keyIds,
          reclaim,
          notice,
          withdrawnNoticeEndMillis,
          readyAtMillis,
          seatCeilingCents,
          grantPriceCents,
          base.minimumSlots,
          keysDue,
          health);
    }
  }
}
