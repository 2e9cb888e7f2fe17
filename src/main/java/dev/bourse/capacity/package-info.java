/**
 * What a cluster declares and holds: its declaration, allocations, swaps and versions.
 *
 * <p>The data's way through: a {@link dev.bourse.capacity.Command} is queued at the {@link
 * dev.bourse.capacity.ClusterVerticle} that owns the cluster; it turns the immutable {@link
 * dev.bourse.capacity.Cluster} into a {@link dev.bourse.capacity.Transition}; that is committed in
 * one piece by {@link dev.bourse.capacity.CapacityStore}; only then the new state is published in
 * {@link dev.bourse.capacity.Clusters}, where every event loop reads it without asking anybody.
 *
 * <p>A state is built of named parts, such as {@link dev.bourse.capacity.Declaration} and {@link
 * dev.bourse.capacity.Conditions}. A part has its fields, its copy method, what a request says of
 * it and its JSON in one file, and its columns in {@link dev.bourse.capacity.ClusterRows} or {@link
 * dev.bourse.capacity.AllocationRows}. All other code passes parts on as they are. So a new field
 * is written in the contract, the part, its row, a migration, the guide and a test.
 *
 * <p>What operators do goes the same way: {@link dev.bourse.capacity.ClusterAdminService} queues
 * {@link dev.bourse.capacity.OperatorCommands} commands, so that a client's write and an operator's
 * never lose each other.
 *
 * <p>The rules themselves are pure functions: {@link dev.bourse.capacity.Capacity} for what clients
 * do, {@link dev.bourse.capacity.Allotment} for what the market does, {@link
 * dev.bourse.capacity.Lapse} for what ends by itself. The owner ends a declaration whose time has
 * come before it carries out any command; the market's tick only sees to it that one comes.
 *
 * <p>A cluster that is settled, {@link dev.bourse.capacity.Cluster#isSettled}, leaves memory: it is
 * retired and holds nothing. A request that names one has it read from the store first ({@link
 * dev.bourse.capacity.ClusterOwners#meetNamed}), so that the parts that read snapshots need not
 * wait. Lists that show retired clusters are read from the store.
 *
 * <p>{@link dev.bourse.capacity.Standing} is a cluster's part in the market: the ceiling that the
 * last tick read, the seats it waits for, and whether its organization ranks last.
 *
 * <p>{@link dev.bourse.capacity.HealthCommands} records what checks of held machines found and
 * swaps failed nodes if the declaration says so. Such a swap is a requested one in all that
 * follows: the same replacement, protection, price and lapse. One is in flight at a time and none
 * within ten minutes of a node becoming active, so that it is no faster way to other machines than
 * requests. Each change that starts or ends a credit is stored in the commit of the change.
 *
 * <p>What is in force for a pool's clusters, {@link dev.bourse.capacity.PoolInForce}, is shared by
 * their snapshots: to change it costs the same for one cluster as for a million.
 *
 * <p>A {@link dev.bourse.capacity.Drill} is stored with the cluster, because the process that works
 * on its machines may be another one than the one that was asked.
 *
 * <p>{@link dev.bourse.capacity.PreviewService} tries a declaration out: the same {@code declare},
 * then the market's own clearing upon what it makes.
 *
 * <p>What a cluster wants to be told of ({@link dev.bourse.capacity.Alerts}) is part of its state:
 * the tick raises it under its lease, so once however many processes there are.
 *
 * <p>A writer under limits is held by a {@link dev.bourse.capacity.Leash}, which {@code declare}
 * looks at last but for the cadence. What a token's clusters may cost together is looked at once
 * more in the commit, under a lock on the token's row ({@code HourlyLimit}): other owners, other
 * processes too, may be writing its other clusters.
 *
 * <p>Rejected: a lock per cluster (holds a thread while the disk works), and asking the owner for
 * reads (a hop for each of thousands of reads a second that need no order).
 */
@NullMarked
package dev.bourse.capacity;

import org.jspecify.annotations.NullMarked;
