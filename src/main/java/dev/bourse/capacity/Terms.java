package dev.bourse.capacity;

import dev.bourse.pools.Pool;
import org.jspecify.annotations.Nullable;

/**
 * The terms of a client's write, besides the cluster itself.
 *
 * @param pool the pool's terms
 * @param admissionCents the last published admission price; null if no price wins a seat
 * @param writesArmed true if the platform accepts capacity writes
 * @param hasSshKeys true if the organization has registered an SSH key; only VM clusters need one
 * @param cadence the write cadence
 * @param declarationLimits the limits of the writer's declarations
 * @param ticks the ticks of the market
 */
public record Terms(
    Pool pool,
    @Nullable Long admissionCents,
    boolean writesArmed,
    boolean hasSshKeys,
    Cadence cadence,
    DeclarationLimits declarationLimits,
    Ticks ticks) {

  /**
   * The write cadence of a cluster.
   *
   * @param millis the least time between two accepted client writes of a cluster
   * @param lastOverMillis the least age of the last write if its time is ahead of the clock; 0
   *     otherwise
   */
  public record Cadence(long millis, long lastOverMillis) {
    /** No cadence. */
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

  /** Returns these terms with other limits of the writer. */
  public Terms under(DeclarationLimits other) {
    return with(cadence, other, ticks);
  }

  /** Returns these terms without a cadence. */
  Terms atAnyTime() {
    return with(Cadence.NONE, declarationLimits, ticks);
  }

  /** Returns these terms with another schedule of ticks. */
  public Terms ticking(Ticks others) {
    return with(cadence, declarationLimits, others);
  }

  private Terms with(Cadence newCadence, DeclarationLimits newLimits, Ticks newTicks) {
    return new Terms(
        pool, admissionCents, writesArmed, hasSshKeys, newCadence, newLimits, newTicks);
  }
}
