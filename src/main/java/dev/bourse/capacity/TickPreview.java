package dev.bourse.capacity;

import io.vertx.core.Future;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the next tick would bring a cluster, were the world to stay as it is until then.
 *
 * @param nodesWon declared nodes it would win beside those it holds: granted at the tick, or as
 *     soon as the node of a reclaim comes back
 * @param nodesGranted how many of those would be granted at the tick itself
 * @param nodesUnfilled declared nodes that would win nothing, those that cannot be afforded too
 * @param minimumMissed why it would not win its minimum of several nodes; null when it would, or
 *     has none
 * @param lost ids of allocations that would be taken back
 * @param noticed ids of allocations that would stay though they have no seat, with when their
 *     notice ends; empty for one that is given notice once it is active
 * @param clearingCents the clearing price per GPU-hour; null when nothing would be seated
 * @param admissionCents the lowest ceiling that would take a node at the tick after; null when none
 * @param paused whether an operator has the market paused, so that it grants and takes nothing
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

  /** Why a minimum is not won. */
  public enum MinimumMissed {
    /** A higher ceiling could win it. */
    PRICE,
    /** There are not as many nodes to win, whatever the ceiling. */
    SIZE;

    /** As answers spell it; null for none. */
    public static @Nullable String label(@Nullable MinimumMissed why) {
      return why == null ? null : why.name().toLowerCase(Locale.ROOT);
    }
  }

  /** Where previews of ticks come from. */
  @FunctionalInterface
  public interface Source {
    /**
     * The next tick of the cluster's pool, with the cluster as given instead of as it stands. Fails
     * with {@code overloaded} when too many are being made.
     */
    Future<TickPreview> preview(Cluster changed);
  }
}
