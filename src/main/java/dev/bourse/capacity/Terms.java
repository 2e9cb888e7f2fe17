package dev.bourse.capacity;

import dev.bourse.pools.Pool;
import org.jspecify.annotations.Nullable;

/**
 * What a client's write is judged by, besides the cluster itself.
 *
 * @param pool the market's terms
 * @param admissionCents the admission price last published, null when no price takes a seat
 * @param writesArmed whether the platform accepts capacity writes
 * @param hasSshKeys whether the organization has any ssh key registered; only VM clusters need one
 * @param cadence how often a cluster may be written
 * @param leash what declarations of whoever writes are held to
 * @param ticks the ticks of the market
 */
public record Terms(
    Pool pool,
    @Nullable Long admissionCents,
    boolean writesArmed,
    boolean hasSshKeys,
    Cadence cadence,
    Leash leash,
    Ticks ticks) {

  /**
   * The time between the writes of a cluster.
   *
   * @param millis how far apart accepted client writes of one cluster must be
   * @param lastOverMillis for how long at least the last of them is over though it lies ahead of
   *     the clock; 0 when it does not
   */
  public record Cadence(long millis, long lastOverMillis) {
    /** A write waits for no other. */
    static final Cadence NONE = new Cadence(0, 0);
  }

  /**
   * The schedule of a market's ticks.
   *
   * @param nextAtMillis when the next tick is due; in the past if it is late or none is known
   * @param everyMillis the time between two ticks
   */
  public record Ticks(long nextAtMillis, long everyMillis) {
    /** Returns when a ceiling declared now is in force at the latest. */
    long effectiveAtMillis(long nowMillis) {
      long latest = nowMillis + everyMillis;
      return nextAtMillis > nowMillis ? Math.min(nextAtMillis, latest) : latest;
    }
  }

  /** The same for a writer who is held to this. */
  public Terms under(Leash other) {
    return with(cadence, other, ticks);
  }

  /** The same for a write that waits for no other. */
  Terms atAnyTime() {
    return with(Cadence.NONE, leash, ticks);
  }

  /** Returns these terms with another schedule of ticks. */
  public Terms ticking(Ticks others) {
    return with(cadence, leash, others);
  }

  private Terms with(Cadence newCadence, Leash newLeash, Ticks newTicks) {
    return new Terms(pool, admissionCents, writesArmed, hasSshKeys, newCadence, newLeash, newTicks);
  }
}
