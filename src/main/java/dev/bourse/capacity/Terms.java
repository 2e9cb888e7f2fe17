package dev.bourse.capacity;

import org.jspecify.annotations.Nullable;

/**
 * What a client's write is judged by, besides the cluster itself.
 *
 * @param pool the market's terms
 * @param admissionCents the admission price last published, null when no price takes a seat
 * @param writesArmed whether the platform accepts capacity writes
 * @param hasSshKeys whether the organization has any ssh key registered; only VM clusters need one
 * @param cadenceMillis how far apart accepted client writes of one cluster must be
 */
public record Terms(
    Pool pool,
    @Nullable Long admissionCents,
    boolean writesArmed,
    boolean hasSshKeys,
    long cadenceMillis) {

  /** The same for a write that is only imagined. */
  Terms withoutCadence() {
    return new Terms(pool, admissionCents, writesArmed, hasSshKeys, 0);
  }
}
