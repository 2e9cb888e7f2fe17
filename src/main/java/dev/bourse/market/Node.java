package dev.bourse.market;

import dev.bourse.nodes.Machine;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A machine as the market sees it.
 *
 * @param machine the machine itself
 * @param cordoned an operator keeps it out of the market
 * @param failures provisionings that failed in a row
 * @param usableAfterMillis until when it is left alone after a failure
 * @param quarantinedAtMillis since when it waits for an operator, null when it does not
 * @param uncleanAfter the allocation it could not be cleaned after, when that is why it waits; then
 *     cleaning it ends the wait too
 * @param failure the reason, for operators, why it was last not prepared, not cleaned or found
 *     faulty; null after a success
 * @param retries how often operators had its work taken up again
 * @param generation how often an operator said that the machine is another than it was
 * @param reimage the new image that it needs before it is granted again; null for none
 * @param lostGrants the grants for which it was left as it is, see {@link Reassignment}; null for
 *     none
 * @param silentSinceMillis since when it has not answered, or has answered probes without saying
 *     what it holds; null if it answered when it was last tried
 */
public record Node(
    Machine machine,
    boolean cordoned,
    int failures,
    long usableAfterMillis,
    @Nullable Long quarantinedAtMillis,
    @Nullable String uncleanAfter,
    @Nullable String failure,
    long retries,
    long generation,
    @Nullable Reimage reimage,
    @Nullable LostGrants lostGrants,
    @Nullable Long silentSinceMillis) {

  /** Back-off doubles from this: 1, 2, 4 minutes; the failure after those quarantines. */
  private static final long FIRST_BACKOFF_MILLIS = 60_000;

  private static final int BACKOFFS = 3;

  /** No back-off lasts as long. */
  private static final long AHEAD_MILLIS = 3_600_000;

  public Node {
    if (failures < 0 || retries < 0 || generation < 0) {
      throw new IllegalArgumentException(
          "%d failures, %d retries, generation %d of node %s: must not be negative"
              .formatted(failures, retries, generation, machine.nodeId()));
    }
  }

  /** A machine that answers, as it was from the first. */
  public Node(
      Machine machine,
      boolean cordoned,
      int failures,
      long usableAfterMillis,
      @Nullable Long quarantinedAtMillis) {
    this(
        machine,
        cordoned,
        failures,
        usableAfterMillis,
        quarantinedAtMillis,
        null,
        null,
        0,
        0,
        null,
        null,
        null);
  }

  public String nodeId() {
    return machine.nodeId();
  }

  /** Whether what was known of the machine of the other is true of this one's. */
  boolean isSameMachineAs(@Nullable Node other) {
    return other != null && machine.equals(other.machine) && generation == other.generation;
  }

  /** True if it did not answer when it was last tried. */
  boolean isUnreachable() {
    return silentSinceMillis != null;
  }

  /** Whether it can be granted, unless it is held. */
  boolean isUsable(long nowMillis) {
    return !isUnreachable() && isUsableOnceItAnswers(nowMillis);
  }

  private boolean isUsableOnceItAnswers(long nowMillis) {
    return !cordoned && quarantinedAtMillis == null && reimage == null && !isLeftAlone(nowMillis);
  }

  /** True if it cannot be granted only because it has not answered for at least this long. */
  boolean isSilentFor(long millis, long nowMillis) {
    return silentSinceMillis != null
        && nowMillis - silentSinceMillis >= millis
        && isUsableOnceItAnswers(nowMillis);
  }

  /**
   * Whether it backs off. Further ahead than any back-off lasts, a clock that was ahead wrote it.
   */
  boolean isLeftAlone(long nowMillis) {
    return usableAfterMillis > nowMillis && usableAfterMillis <= longestBackOffEnd(nowMillis);
  }

  /** When a back-off that is believed now is over at the latest. */
  static long longestBackOffEnd(long nowMillis) {
    return nowMillis + AHEAD_MILLIS;
  }

  /** Why it is quarantined, in words for operators; null when it is not. */
  @Nullable String quarantineReason() {
    if (quarantinedAtMillis == null) {
      return null;
    }
    String why = failure == null ? "" : ": " + failure;
    if (uncleanAfter != null) {
      return "it could not be cleaned after allocation " + uncleanAfter + why;
    }
    if (failure != null && failures < BACKOFFS) {
      return failure;
    }
    return failures >= BACKOFFS
        ? "it could not be prepared %d times in a row%s".formatted(failures + 1, why)
        : "an operator ended its reclaim and kept it out of the market";
  }

  Node failed(long nowMillis, @Nullable String why) {
    int count = failures + 1;
    return count > BACKOFFS
        ? with(failures, usableAfterMillis, nowMillis, null, why)
        : with(
            count,
            nowMillis + (FIRST_BACKOFF_MILLIS << (count - 1)),
            quarantinedAtMillis,
            uncleanAfter,
            why);
  }

  /** Returns the node with the first baseline of its machine. */
  Node withBaseline(String digest) {
    return copy(
        machine.withBaseline(digest),
        failures,
        usableAfterMillis,
        quarantinedAtMillis,
        uncleanAfter,
        failure,
        reimage,
        lostGrants,
        silentSinceMillis);
  }

  /** Returns the node with this reimage in the place of any other. */
  Node needing(Reimage next) {
    return copy(
        machine,
        failures,
        usableAfterMillis,
        quarantinedAtMillis,
        uncleanAfter,
        failure,
        next,
        lostGrants,
        silentSinceMillis);
  }

  /** Returns the node left as it is for an allocation that the store does not know. */
  Node leftFor(String allocationId) {
    if (lostGrants == null) {
      return with(new LostGrants(List.of(allocationId), retries));
    }
    return lostGrants.contains(allocationId) ? this : with(lostGrants.with(allocationId, retries));
  }

  /** Returns the node without its lost grants. */
  Node withoutLostGrants() {
    return with((LostGrants) null);
  }

  private Node with(@Nullable LostGrants lost) {
    return copy(
        machine,
        failures,
        usableAfterMillis,
        quarantinedAtMillis,
        uncleanAfter,
        failure,
        reimage,
        lost,
        silentSinceMillis);
  }

  /**
   * Returns the allocation for which it waits for an operator's retry, the last if there are
   * several; null for none.
   */
  @Nullable String unknownMark() {
    return lostGrants == null || mayBeWiped() ? null : lostGrants.latest();
  }

  /** True if an operator has retried it since the last lost grant was found. */
  boolean mayBeWiped() {
    return lostGrants != null && lostGrants.retry() < retries;
  }

  /**
   * True if an operator allowed to wipe it of an unknown allocation: by a retry since it was left,
   * or, as a reimage that is under way shows, by one before that.
   */
  boolean mayBeWipedOf(String allocationId) {
    return (reimage != null && !reimage.hasFailed() && reimage.allocationId().equals(allocationId))
        || (lostGrants != null && mayBeWiped() && lostGrants.contains(allocationId));
  }

  /**
   * Returns the node with its new image: known by another host key, and not quarantined any more if
   * it waited for that. Another generation, because what was noted of it before is over.
   */
  Node reimaged(Machine fresh) {
    Node clean = reimage == null ? this : cleaned(reimage.allocationId());
    return new Node(
        fresh,
        cordoned,
        clean.failures,
        clean.usableAfterMillis,
        clean.quarantinedAtMillis,
        clean.uncleanAfter,
        clean.failure,
        retries,
        generation + 1,
        null,
        null,
        null);
  }

  /** Quarantined at once because another try finds the same; an older quarantine stays. */
  Node unfit(long nowMillis, @Nullable String why) {
    return quarantinedAtMillis != null ? this : with(0, usableAfterMillis, nowMillis, null, why);
  }

  /**
   * Quarantined because it cannot be cleaned, and not reimaged any further before an operator's
   * retry; one that is quarantined already stays as it is.
   */
  Node unclean(String allocationId, long nowMillis, @Nullable String why) {
    Node stopped =
        reimage != null && reimage.allocationId().equals(allocationId)
            ? needing(reimage.failed())
            : this;
    if (quarantinedAtMillis == null) {
      return stopped.with(failures, usableAfterMillis, nowMillis, allocationId, why);
    }
    // Another try may have failed for another reason.
    return allocationId.equals(uncleanAfter)
        ? stopped.with(failures, usableAfterMillis, quarantinedAtMillis, allocationId, why)
        : stopped;
  }

  /** Cleaned after an allocation: a quarantine that this caused is over, and no other. */
  Node cleaned(String allocationId) {
    return allocationId.equals(uncleanAfter)
        ? with(failures, usableAfterMillis, null, null, null)
        : this;
  }

  /** Prepared for an allocation, so no lost grant is on it. */
  Node healthy() {
    return with(0, 0, quarantinedAtMillis, uncleanAfter, null).withoutLostGrants();
  }

  /** The same as its machine was last found. */
  Node found(@Nullable Long silentSince) {
    return Objects.equals(silentSince, silentSinceMillis)
        ? this
        : copy(
            machine,
            failures,
            usableAfterMillis,
            quarantinedAtMillis,
            uncleanAfter,
            failure,
            reimage,
            lostGrants,
            silentSince);
  }

  private Node with(
      int failed,
      long usableAfter,
      @Nullable Long quarantinedAt,
      @Nullable String unclean,
      @Nullable String why) {
    return copy(
        machine,
        failed,
        usableAfter,
        quarantinedAt,
        unclean,
        why,
        reimage,
        lostGrants,
        silentSinceMillis);
  }

  /** Only operators change the other components, in the row. */
  private Node copy(
      Machine on,
      int failed,
      long usableAfter,
      @Nullable Long quarantinedAt,
      @Nullable String unclean,
      @Nullable String why,
      @Nullable Reimage next,
      @Nullable LostGrants lost,
      @Nullable Long silentSince) {
    return new Node(
        on,
        cordoned,
        failed,
        usableAfter,
        quarantinedAt,
        unclean,
        why,
        retries,
        generation,
        next,
        lost,
        silentSince);
  }
}
