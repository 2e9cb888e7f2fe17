/**
 * The capacity of clusters: declarations, allocations, swaps and versions.
 *
 * <p>Clusters have two surfaces, each with a contract. A Kubernetes cluster is a tenant of a pool
 * like a VM cluster: the same commands, auctions, grants and write cadence apply to it. {@link
 * dev.bourse.capacity.CapacityService} is the service of one surface, and {@link
 * dev.bourse.capacity.Cluster#kind} decides how a node is named: by its public address on the VM
 * surface, by its name in the cluster that it joins on the Kubernetes surface. Nodes of a
 * Kubernetes cluster are prepared without a tenant's SSH key, because nobody logs in to them, so a
 * bid requires no key in the registry. Rejected: a separate market for Kubernetes, because two
 * markets over the same machines need a split of them that is wrong the next hour; and a mapping of
 * VM clusters onto the Kubernetes surface, because node names would appear where addresses are
 * promised.
 *
 * <p>Data flow: a caller submits a {@link dev.bourse.capacity.Command} to the {@link
 * dev.bourse.capacity.ClusterVerticle} that owns the cluster. The owner applies it to the immutable
 * {@link dev.bourse.capacity.Cluster}; the result is a {@link dev.bourse.capacity.Transition}. The
 * {@link dev.bourse.capacity.CapacityStore} commits it in one transaction. Then the owner publishes
 * the new state in {@link dev.bourse.capacity.Clusters}, where every event loop reads it without a
 * message to the owner.
 *
 * <p>A state consists of named parts, such as {@link dev.bourse.capacity.Declaration} and {@link
 * dev.bourse.capacity.Conditions}. The file of a part has its fields, its copy method, its change
 * by a request and its JSON; {@link dev.bourse.capacity.ClusterRows} or {@link
 * dev.bourse.capacity.AllocationRows} has its columns. All other code passes parts on unchanged. A
 * new field therefore needs a change of the contract, the part, its row, a migration, the guide and
 * a test.
 *
 * <p>Changes by operators take the same path: {@link dev.bourse.capacity.ClusterAdminService}
 * submits {@link dev.bourse.capacity.OperatorCommands}, so that a client's write and an operator's
 * never overwrite each other.
 *
 * <p>The rules are pure functions: {@link dev.bourse.capacity.Capacity} has those of clients,
 * {@link dev.bourse.capacity.MarketTransitions} those of the market, {@link
 * dev.bourse.capacity.Lapse} those of the lapse. The owner ends a declaration that is due before it
 * carries out any command; the market's tick only submits a command.
 *
 * <p>A settled cluster ({@link dev.bourse.capacity.Cluster#isSettled}) is retired and holds
 * nothing, and leaves memory. A request that names one reads it from the store first ({@link
 * dev.bourse.capacity.ClusterOwners#meetNamed}), so that code that reads snapshots need not wait.
 * Lists that show retired clusters are read from the store.
 *
 * <p>{@link dev.bourse.capacity.Standing} is a cluster's part in the market: the ceiling that the
 * last tick read, the seats it waits for, and whether its organization ranks last.
 *
 * <p>{@link dev.bourse.capacity.HealthCommands} records the results of health checks and swaps
 * failed nodes if the declaration says so. Such a swap is treated like a requested one: the same
 * replacement, protection, price and lapse. One is in flight at a time, and a node is swapped at
 * the earliest ten minutes after it became active, so that automatic swaps are no faster way to
 * other machines than requests. A change that starts or ends a credit is stored in the same commit.
 *
 * <p>The snapshots of a pool's clusters share the terms in force ({@link
 * dev.bourse.capacity.PoolInForce}), so a change of the terms costs the same for one cluster as for
 * a million.
 *
 * <p>A {@link dev.bourse.capacity.Drill} is stored with the cluster, because another process may
 * work on its machines than the one that got the request.
 *
 * <p>{@link dev.bourse.capacity.PreviewService} previews a declaration: it applies the same {@code
 * declare} and then the market's own clearing.
 *
 * <p>The alerts of a cluster ({@link dev.bourse.capacity.Alerts}) are part of its state. The tick
 * raises them under its lease, so each is raised once in a deployment of several processes.
 *
 * <p>A {@link dev.bourse.capacity.DeclarationLimits} has the limits of a writer. {@code declare}
 * checks them last except for the cadence. The commit checks the hourly limit of all clusters of a
 * token again, under a lock on the token's row ({@code HourlyLimit}), because other owners and
 * processes may write the token's other clusters at the same time.
 *
 * <p>Rejected: a lock per cluster, because it blocks a thread during disk I/O; and reads by a
 * message to the owner, because thousands of reads a second need no order.
 */
@NullMarked
package dev.bourse.capacity;

import org.jspecify.annotations.NullMarked;
