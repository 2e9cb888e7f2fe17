package dev.bourse.market;

import dev.bourse.nodes.Machine;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A machine and its state in the market.
 *
 * @param machine the machine itself
 * @param cordoned true if an operator keeps it out of the market
 * @param failures consecutive failed provisionings, at least 0
 * @param usableAfterMillis the end of its backoff after a failure
 * @param quarantinedAtMillis since when it is quarantined; null if it is not
 * @param uncleanAfter the allocation after which it could not be cleaned, if that caused the
 *     quarantine, which then ends when the machine is cleaned; null otherwise
 * @param failure the latest reason, for operators, why it was not prepared, not cleaned or found
 *     faulty; null after a success
 * @param retries how often operators restarted its work, at least 0
 * @param generation a counter, at least 0, that grows when earlier facts about the machine no
 *     longer hold, as after a new host key or image
 * @param reimage the new image that it needs before it is granted again; null for none
 * @param lostGrants the lost grants for which it was left unchanged, see {@link Reassignment}; null
 *     for none
 * @param silentSinceMillis since when it has not answered, or has answered probes without reporting
 *     its allocation; null if it answered the last attempt
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

  /**
   * The first backoff. It doubles: 1, 2, 4 minutes; the failure after those quarantines the node.
   */
  private static final long FIRST_BACKOFF_MILLIS = 60_000;

  private static final int BACKOFFS = 3;

  /** Longer than any backoff, in milliseconds. */
  private static final long AHEAD_MILLIS = 3_600_000;

  public Node {
    if (failures < 0 || retries < 0 || generation < 0) {
      throw new IllegalArgumentException(
          "%d failures, %d retries, generation %d of node %s: must not be negative"
              .formatted(failures, retries, generation, machine.nodeId()));
    }
  }

  /** Creates a node that answers and has no history. */
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

  /** Returns true if facts about the other node's machine hold for this node's machine. */
  boolean isSameMachineAs(@Nullable Node other) {
    return other != null && machine.equals(other.machine) && generation == other.generation;
  }

  /** Returns true if it did not answer the last attempt. */
  boolean isUnreachable() {
    return silentSinceMillis != null;
  }

  /** Returns true if it can be granted unless it is held. */
  boolean isUsable(long nowMillis) {
    return !isUnreachable() && isUsableOnceItAnswers(nowMillis);
  }

  private boolean isUsableOnceItAnswers(long nowMillis) {
    return !cordoned && quarantinedAtMillis == null && reimage == null && !isLeftAlone(nowMillis);
  }

  /**
   * Returns true if its silence for at least this long is the only reason why it cannot be granted.
   */
  boolean isSilentFor(long millis, long nowMillis) {
    return silentSinceMillis != null
        && nowMillis - silentSinceMillis >= millis
        && isUsableOnceItAnswers(nowMillis);
  }

  /**
   * Returns true if it backs off. An end further ahead than any backoff lasts comes from a clock
   * that was ahead and is ignored.
   */
  boolean isLeftAlone(long nowMillis) {
    return usableAfterMillis > nowMillis && usableAfterMillis <= longestBackOffEnd(nowMillis);
  }

  /** Returns the latest end of a backoff that is not ignored at this time. */
  static long longestBackOffEnd(long nowMillis) {
    return nowMillis + AHEAD_MILLIS;
  }

  /**
   * Returns the reason for the quarantine, in words for operators; null if it is not quarantined.
   */
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

  /** Returns the node with this reimage instead of any other. */
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

  /** Returns the node with a lost grant added, for an allocation that the store does not know. */
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
   * Returns the unknown allocation for which it waits for an operator's retry, the latest if there
   * are several; null for none.
   */
  @Nullable String unknownMark() {
    return lostGrants == null || mayBeWiped() ? null : lostGrants.latest();
  }

  /** Returns true if an operator has retried it since the last lost grant was found. */
  boolean mayBeWiped() {
    return lostGrants != null && lostGrants.retry() < retries;
  }

  /**
   * Returns true if an operator allowed the market to wipe it of an unknown allocation: by a retry
   * since it was left, or by an earlier retry, which a reimage in progress proves.
   */
  boolean mayBeWipedOf(String allocationId) {
    return (reimage != null && !reimage.hasFailed() && reimage.allocationId().equals(allocationId))
        || (lostGrants != null && mayBeWiped() && lostGrants.contains(allocationId));
  }

  /**
   * Returns the node with its new image: it has another host key, and a quarantine that waited for
   * the image ends. The generation grows, because earlier facts about the machine no longer hold.
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

  /**
   * Returns the node quarantined at once, because another attempt would fail the same way. An older
   * quarantine stays.
   */
  Node unfit(long nowMillis, @Nullable String why) {
    return quarantinedAtMillis != null ? this : with(0, usableAfterMillis, nowMillis, null, why);
  }

  /**
   * Returns the node quarantined because it cannot be cleaned; its reimage stops until an operator
   * retries it. An existing quarantine stays.
   */
  Node unclean(String allocationId, long nowMillis, @Nullable String why) {
    Node stopped =
        reimage != null && reimage.allocationId().equals(allocationId)
            ? needing(reimage.failed())
            : this;
    if (quarantinedAtMillis == null) {
      return stopped.with(failures, usableAfterMillis, nowMillis, allocationId, why);
    }
    // Another attempt may have failed for another reason.
    return allocationId.equals(uncleanAfter)
        ? stopped.with(failures, usableAfterMillis, quarantinedAtMillis, allocationId, why)
        : stopped;
  }

  /**
   * Returns the node cleaned after an allocation. Only a quarantine that this allocation caused
   * ends.
   */
  Node cleaned(String allocationId) {
    return allocationId.equals(uncleanAfter)
        ? with(failures, usableAfterMillis, null, null, null)
        : this;
  }

  /** Returns the node prepared for an allocation: without failures and lost grants. */
  Node healthy() {
    return with(0, 0, quarantinedAtMillis, uncleanAfter, null).withoutLostGrants();
  }

  /** Returns the node with the silence of its machine. */
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

  /** Operators alone change the other components, in the row. */
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
