package dev.bourse.capacity;

import io.vertx.core.Future;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The effect of the next tick on a cluster if nothing else changes until then.
 *
 * @param nodesWon declared nodes that it would win beside those that it holds: granted at the tick,
 *     or when the node of a reclaim is clean
 * @param nodesGranted the number of these that the tick itself would grant
 * @param nodesUnfilled declared nodes that would stay open, also for lack of funds
 * @param minimumMissed why it would not win its minimum of several nodes; null if it would, or has
 *     no minimum
 * @param lost ids of allocations that would be reclaimed
 * @param noticed ids of allocations that would have no seat but stay, with the end of their notice;
 *     empty for one that gets its notice when it becomes active
 * @param clearingCents the clearing price per GPU-hour; null if no bid would have a seat
 * @param admissionCents the lowest ceiling that would win a node at the tick after; null if none
 * @param paused true if an operator paused the market, so that it grants and reclaims nothing
 * @param tickAtMillis when that tick is due
 */
public record TickPreview(
    int nodesWon,
    int nodesGranted,
    int nodesUnfilled,
    @Nullable MinimumMissed minimumMissed,
    Set<String> lost,
    Map<String, OptionalLong> noticed,
    @Nullable Long clearingCents,
    @Nullable Long admissionCents,
    boolean paused,
    long tickAtMillis) {

  /** The reason why a cluster does not win its minimum. */
  public enum MinimumMissed {
    /** A higher ceiling could win it. */
    PRICE,
    /** The pool has too few nodes at any ceiling. */
    SIZE;

    /** Returns its name in answers; null for null. */
    public static @Nullable String label(@Nullable MinimumMissed why) {
      return why == null ? null : why.name().toLowerCase(Locale.ROOT);
    }
  }

  /** Computes previews of ticks. */
  @FunctionalInterface
  public interface Source {
    /**
     * Computes the next tick of the cluster's pool with this state of the cluster. Fails with
     * {@code overloaded} if too many previews are in progress.
     */
    Future<TickPreview> preview(Cluster changed);
  }
}
