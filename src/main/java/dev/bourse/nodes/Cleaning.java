package dev.bourse.nodes;

import org.jspecify.annotations.Nullable;

/**
 * What a reclaim did on a machine before it found nothing more of the tenant.
 *
 * @param seconds how long it took
 * @param processes processes of the tenant at its beginning
 * @param files files and folders removed outside the home
 * @param objects System V objects removed
 * @param baseline the digest of what root owns on the machine, which equals the accepted one; null
 *     if it was not compared
 */
public record Cleaning(
    long seconds, long processes, long files, long objects, @Nullable String baseline) {
  /** The result of a reclaim that kept no record, such as one by the operator's commands only. */
  public static final Cleaning UNRECORDED = new Cleaning(0, 0, 0, 0, null);
}
