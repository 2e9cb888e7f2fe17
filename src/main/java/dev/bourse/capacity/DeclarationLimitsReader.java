package dev.bourse.capacity;

import dev.bourse.access.LimitStore;
import dev.bourse.access.Principal;
import dev.bourse.access.TokenLimits;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.util.function.Function;

/** Reads the limits of callers' declarations. */
public final class DeclarationLimitsReader {
  private final Clusters clusters;
  private final LimitStore limits;

  DeclarationLimitsReader(Clusters clusters, Database database) {
    this.clusters = clusters;
    this.limits = new LimitStore(database);
  }

  /**
   * Reads the limits of a caller's declarations.
   *
   * <p>Fails with {@code unauthorized} if the caller's OAuth consent was revoked.
   */
  public Future<TokenLimits> readLimits(Principal caller) {
    return limits.limitsOf(caller);
  }

  /**
   * Reads the limits of a caller's write. The function computes them for a cluster from the
   * declarations of the other clusters at the time of its call.
   *
   * <p>Fails with {@code unauthorized} if the caller's OAuth consent was revoked.
   */
  public Future<Function<Cluster, DeclarationLimits>> of(Principal caller) {
    return limits
        .limitsOf(caller)
        .map(found -> cluster -> declarationLimits(caller, found, cluster));
  }

  private DeclarationLimits declarationLimits(
      Principal caller, TokenLimits found, Cluster cluster) {
    DeclarationLimits alone = new DeclarationLimits(caller.tokenId(), caller.grantId(), found, 0);
    if (found.maxHourlyCents() == null) {
      return alone;
    }
    long elsewhere =
        clusters.ofOrg(cluster.orgId()).stream()
            .map(ClusterView::cluster)
            .filter(other -> !other.isRetired() && !other.name().equals(cluster.name()))
            .map(Cluster::declared)
            .filter(declared -> declared != null && alone.wrote(caller.actor(), declared))
            .mapToLong(DeclarationLimits::hourlyCents)
            .sum();
    return new DeclarationLimits(caller.tokenId(), caller.grantId(), found, elsewhere);
  }
}
