package dev.bourse.nodes;

import org.jspecify.annotations.Nullable;

/**
 * The record of a reclaim, which ends when a search finds nothing more of the tenant.
 *
 * @param seconds its duration
 * @param processes processes of the tenant at its start
 * @param files files and folders removed outside the home
 * @param objects System V objects removed
 * @param baseline the digest of the configuration that root owns, which equals the accepted one;
 *     null if it was not compared
 */
public record Cleaning(
    long seconds, long processes, long files, long objects, @Nullable String baseline) {
  /** The result of a reclaim without a record, such as one by the operator's commands only. */
  public static final Cleaning UNRECORDED = new Cleaning(0, 0, 0, 0, null);
}
