package dev.bourse.capacity;

import io.vertx.core.Future;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the next tick would bring a cluster, were the world to stay as it is until then.
 *
 * @param nodesWon declared nodes it would win beside those it holds: granted at the tick, or as
 *     soon as the node of a reclaim comes back
 * @param nodesGranted how many of those would be granted at the tick itself
 * @param nodesUnfilled declared nodes that would win nothing, those that cannot be afforded too
 * @param lost ids of allocations that would be taken back
 * @param noticed ids of allocations that would stay though they have no seat: under notice, or
 *     given notice once they are active
 * @param clearingCents the clearing price per GPU-hour; null when nothing would be seated
 * @param admissionCents the lowest ceiling that would take a node at the tick after; null when none
 * @param tickAtMillis when that tick is due
 */
public record TickPreview(
    int nodesWon,
    int nodesGranted,
    int nodesUnfilled,
    Set<String> lost,
    Set<String> noticed,
    @Nullable Long clearingCents,
    @Nullable Long admissionCents,
    long tickAtMillis) {

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
