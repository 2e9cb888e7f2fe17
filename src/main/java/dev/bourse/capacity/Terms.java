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
 * @param cadenceMillis how far apart accepted client writes of one cluster must be
 * @param lastOverMillis for how long at least the last of them is over though it lies ahead of the
 *     clock; 0 when it does not
 * @param leash what declarations of whoever writes are held to
 * @param ticks the ticks of the market
 */
public record Terms(
    Pool pool,
    @Nullable Long admissionCents,
    boolean writesArmed,
    boolean hasSshKeys,
    long cadenceMillis,
    long lastOverMillis,
    Leash leash,
    Ticks ticks) {

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

  /** For writers who are held to nothing. */
  public Terms(
      Pool pool,
      @Nullable Long admissionCents,
      boolean writesArmed,
      boolean hasSshKeys,
      long cadenceMillis,
      long lastOverMillis) {
    this(
        pool,
        admissionCents,
        writesArmed,
        hasSshKeys,
        cadenceMillis,
        lastOverMillis,
        Leash.NONE,
        new Ticks(0, 0));
  }

  /** As long as no clock was set back. */
  public Terms(
      Pool pool,
      @Nullable Long admissionCents,
      boolean writesArmed,
      boolean hasSshKeys,
      long cadenceMillis) {
    this(pool, admissionCents, writesArmed, hasSshKeys, cadenceMillis, 0);
  }

  /** The same for a writer who is held to this. */
  public Terms under(Leash leash) {
    return new Terms(
        pool, admissionCents, writesArmed, hasSshKeys, cadenceMillis, lastOverMillis, leash, ticks);
  }

  /** The same for a write that waits for no other. */
  Terms atAnyTime() {
    return new Terms(pool, admissionCents, writesArmed, hasSshKeys, 0, 0, leash, ticks);
  }

  /** Returns these terms with another schedule of ticks. */
  public Terms ticking(Ticks others) {
    return new Terms(
        pool,
        admissionCents,
        writesArmed,
        hasSshKeys,
        cadenceMillis,
        lastOverMillis,
        leash,
        others);
  }
}
