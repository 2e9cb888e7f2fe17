package dev.bourse.market;

import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.Holds;
import dev.bourse.core.ConfirmedTime;
import dev.bourse.nodes.MachineTerms;
import dev.bourse.pools.Pool;
import dev.bourse.sshkeys.SshKeyService;
import dev.bourse.sshkeys.SshKeyStore;
import dev.bourse.store.Database;
import java.time.Clock;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * The services and settings that the markets of all pools share.
 *
 * @param spending the amounts that organizations may still commit to
 * @param holds the billing holds of organizations, which apply to bids of no cluster
 * @param nanoTime the monotonic clock
 * @param process the name of this process in leases
 */
public record MarketEnvironment(
    Database database,
    Clusters clusters,
    ClusterOwners owners,
    SshKeyService keys,
    Spending spending,
    Holds holds,
    MarketConfig config,
    Clock clock,
    ConfirmedTime time,
    LongSupplier nanoTime,
    RandomGenerator random,
    String process) {

  LeaseStore leases() {
    return new LeaseStore(database);
  }

  NodeStore nodes() {
    return new NodeStore(database);
  }

  PriceStore prices() {
    return new PriceStore(database);
  }

  SshKeyStore keyStore() {
    return new SshKeyStore(database);
  }

  /** Returns the hardware and access that a pool promises for its machines. */
  MachineTerms terms(String pool) {
    Pool promised = clusters.findPool(pool).orElseThrow();
    return new MachineTerms(
        promised.gpusPerNode(), promised.gpuModel(), promised.tenants() == Pool.Tenants.ROOT, null);
  }

  /**
   * Returns true if tenants of a pool could become root. Kubernetes tenants can, because a workload
   * may have the rights of its node.
   */
  boolean hasRootTenants(String pool) {
    return clusters.findPool(pool).filter(p -> p.tenants() == Pool.Tenants.ROOT).isPresent()
        || clusters.ofPool(pool).stream()
            .anyMatch(view -> view.cluster().kind() == Cluster.Kind.K8S);
  }

  long now() {
    return clock.millis();
  }
}
