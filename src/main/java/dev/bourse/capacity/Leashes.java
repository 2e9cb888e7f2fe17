package dev.bourse.capacity;

import dev.bourse.access.LimitStore;
import dev.bourse.access.Principal;
import dev.bourse.access.TokenLimits;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.util.function.Function;

/** What callers' declarations are held to, cluster by cluster. */
public final class Leashes {
  private final Clusters clusters;
  private final LimitStore limits;

  Leashes(Clusters clusters, Database database) {
    this.clusters = clusters;
    this.limits = new LimitStore(database);
  }

  /**
   * How far a caller's declarations may go.
   *
   * <p>Fails with {@code unauthorized} when the consent that the caller acts by is gone.
   */
  public Future<TokenLimits> readLimits(Principal caller) {
    return limits.limitsOf(caller);
  }

  /**
   * What a caller's write of a cluster is held to, as the other clusters stand when it is asked.
   *
   * <p>Fails with {@code unauthorized} when the consent that the caller acts by is gone.
   */
  public Future<Function<Cluster, Leash>> of(Principal caller) {
    return limits.limitsOf(caller).map(found -> cluster -> leash(caller, found, cluster));
  }

  private Leash leash(Principal caller, TokenLimits found, Cluster cluster) {
    Leash alone = new Leash(caller.tokenId(), caller.grantId(), found, 0);
    if (found.maxHourlyCents() == null) {
      return alone;
    }
    long elsewhere =
        clusters.ofOrg(cluster.orgId()).stream()
            .map(ClusterView::cluster)
            .filter(other -> !other.isRetired() && !other.name().equals(cluster.name()))
            .map(Cluster::declared)
            .filter(declared -> declared != null && alone.wrote(caller.actor(), declared))
            .mapToLong(Leash::hourlyCents)
            .sum();
    return new Leash(caller.tokenId(), caller.grantId(), found, elsewhere);
  }
}
