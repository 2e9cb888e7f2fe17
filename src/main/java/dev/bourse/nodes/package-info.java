/**
 * The machines behind the market: the {@link dev.bourse.nodes.NodeProvider} port and its providers.
 *
 * <p>A provider knows machines, keys and commands; it knows nothing of clusters, prices or slots.
 * All its operations are idempotent: after a crash the caller repeats them, and the machine ends in
 * the same state. A {@link dev.bourse.nodes.NodeFailureException} says whether a retry may help.
 *
 * <p>Work on a real machine continues when the connection or the process that started it is gone.
 * The machine records the run in progress, kills all processes of a run whose time is up, and keeps
 * the result for the next visit ({@code MachineScript}). It remembers the allocations that it was
 * reclaimed from, so that a late call gives no access again. A reclaim removes keys and ends
 * sessions before any step that needs disk space.
 *
 * <p>Each grant gives the tenant's login a user id that no other grant of the service has, and a
 * block of 65,536 subordinate ids that no tenant of the machine had before. Everything that a
 * tenant without root rights leaves on a machine has one of these ids, so a reclaim searches for
 * ids only. A leftover that the search misses cannot read the next tenant's files, because that
 * tenant has other ids. Processes are killed with the rights of the tenant's id in one system call,
 * because a scan of process ids is slower than a fork bomb. A machine is free only after a last
 * search that found nothing.
 *
 * <p>User ids are unique among all machines because of shared file systems, where a file outlives
 * the grant of its owner. Subordinate ids are unique on each machine only, because a large site
 * would use up the blocks within days. The login is also in the group of its organization, whose id
 * never changes, so that the organization keeps its shared files. A reclaim searches for that id as
 * well, because the next tenant of the organization has it again.
 *
 * <p>Each reclaim compares the configuration that root owns with an accepted list, the baseline
 * ({@code baseline.sh}), because a tenant who became root once leaves files without the tenant's
 * ids. The list is on the machine and its digest in the store, so the list takes no room in the
 * store and cannot be forged. It has configuration only: with files of packages, each upgrade would
 * quarantine a site. Loaded kernel modules are not in it, because honest programs load some.
 *
 * <p>The leftovers of a tenant with root rights have root's ids, so no search on the machine finds
 * them. Such a machine gets a new image instead ({@code ReimageCommand}), by a command on the
 * service's host, which returns the new host key. An answer of the machine itself would prove
 * nothing, because its tenant could copy the old host key and imitate the new image.
 *
 * <p>Hardware is checked on the machine ({@code health.sh}) before the first key is written, and
 * while it is held. A program of a driver may hang where no signal ends it, so one that hung is not
 * started again.
 *
 * <p>While a machine is held, a fault is {@link dev.bourse.nodes.Health.State#FAILED} only if no
 * tenant without root rights can cause it, because time in it is credited: uncorrected memory
 * errors, missing GPUs, a GPU off the bus, and errors in the kernel's log that only hardware
 * causes. A tenant can exhaust memory, processes and the disk and load the driver. So a program
 * that hangs, fails or is cut off in the middle of its answer, an error of the GPU's firmware, a
 * recovery action that the driver asks for, and the operator's own check are {@code DEGRADED} at
 * most. Room on the disk, memory and the clock are not checked while a machine is held. A tenant
 * with root rights can forge each check, see {@link dev.bourse.nodes.MachineTerms#hasRootTenants}.
 *
 * <p>A notice ({@code notice.sh}) reaches the tenant's programs through a file that only root can
 * write and through one process with the tenant's ids, so the tenant's programs run, open files and
 * send signals with the tenant's own rights only. A notice has its own lock. A reclaim kills a
 * notice in progress and keeps that lock, so no program of the tenant starts after the last search.
 * The machine keeps the last notice and its sequence, so repeated and late deliveries change
 * nothing, and the service need not remember them. If the machine ignores a notice, it answers with
 * its last sequence: its agent may have delivered a newer notice, or a database that was set back
 * counts the cluster's changes from a lower value.
 *
 * <p>An agent ({@code agent.sh}) measures the GPUs of a held machine, because a visit every 30
 * seconds would take the connections of 10,000 machines. Between two reports it waits for a notice,
 * and tells it with the same functions, lock and files as a visit does. The sequence decides which
 * of the two is newer, so neither undoes the other's work. It is a process of the same script that
 * the visits run, so there is no program to install or update, and it speaks outward only, so the
 * service trusts it with nothing: its credential serves its own allocation. Its access reaches the
 * machine on standard input ({@link dev.bourse.nodes.AgentAccess}). A grant starts the agent, an
 * examination starts it again if it is gone, and a reclaim ends it. A lock keeps a second one from
 * running. An agent that outlives its grant, because an earlier release reclaimed the machine,
 * notices that the machine's mark has changed, and ends.
 *
 * <p>{@link dev.bourse.nodes.SshNodes} drives real machines over SSH with pinned host keys; {@link
 * dev.bourse.nodes.SimulatedNodes} simulates machines for demonstrations and load tests.
 *
 * <p>Rejected: control groups to end sessions, because cron's jobs are in cron's group, so the
 * search by ids is needed anyway. The search also ends fork bombs and programs that change their
 * ids, even on a machine whose load is twenty times the number of its processors. A machine on
 * which the search takes too long is not granted, so a control group would save time only.
 *
 * <p>Rejected: signals to processes by root after a check of their owner, because the process id
 * may belong to another process by then.
 *
 * <p>Rejected: trust on first use of a host key, because the machine that answers first would get
 * the tenants' keys; and an agent that takes orders, because it is another program to install,
 * update and secure beside sshd.
 */
@NullMarked
package dev.bourse.nodes;

import org.jspecify.annotations.NullMarked;
