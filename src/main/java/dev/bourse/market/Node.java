package dev.bourse.market;

import dev.bourse.nodes.Machine;
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
 * @param isUnreachable whether it did not answer when it was last tried
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
    boolean isUnreachable) {

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
        false);
  }

  public String nodeId() {
    return machine.nodeId();
  }

  /** Whether what was known of the machine of the other is true of this one's. */
  boolean isSameMachineAs(@Nullable Node other) {
    return other != null && machine.equals(other.machine) && generation == other.generation;
  }

  /** Whether it can be granted, unless it is held. */
  boolean isUsable(long nowMillis) {
    return !cordoned && !isUnreachable && quarantinedAtMillis == null && !isLeftAlone(nowMillis);
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
        isUnreachable);
  }

  /** Quarantined at once because another try finds the same; an older quarantine stays. */
  Node unfit(long nowMillis, @Nullable String why) {
    return quarantinedAtMillis != null ? this : with(0, usableAfterMillis, nowMillis, null, why);
  }

  /** Quarantined because it cannot be cleaned; one that is quarantined already stays as it is. */
  Node unclean(String allocationId, long nowMillis, @Nullable String why) {
    return quarantinedAtMillis != null
        ? this
        : with(failures, usableAfterMillis, nowMillis, allocationId, why);
  }

  /** Cleaned after an allocation: a quarantine that this caused is over, and no other. */
  Node cleaned(String allocationId) {
    return allocationId.equals(uncleanAfter)
        ? with(failures, usableAfterMillis, null, null, null)
        : this;
  }

  Node healthy() {
    return with(0, 0, quarantinedAtMillis, uncleanAfter, null);
  }

  /** The same as its machine was last found. */
  Node found(boolean unreachable) {
    return unreachable == isUnreachable
        ? this
        : copy(
            machine,
            failures,
            usableAfterMillis,
            quarantinedAtMillis,
            uncleanAfter,
            failure,
            unreachable);
  }

  private Node with(
      int failed,
      long usableAfter,
      @Nullable Long quarantinedAt,
      @Nullable String unclean,
      @Nullable String why) {
    return copy(machine, failed, usableAfter, quarantinedAt, unclean, why, isUnreachable);
  }

  /** Only operators change the other components, in the row. */
  private Node copy(
      Machine on,
      int failed,
      long usableAfter,
      @Nullable Long quarantinedAt,
      @Nullable String unclean,
      @Nullable String why,
      boolean unreachable) {
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
        unreachable);
  }
}
