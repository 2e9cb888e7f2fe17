/**
 * The machines behind the market: the {@link dev.bourse.nodes.NodeProvider} port and its providers.
 *
 * <p>A provider knows machines, keys and commands; it knows nothing of clusters, prices or slots.
 * All its operations can be repeated: whoever drives it calls again after a crash and the machine
 * ends in the same state. A failure says whether trying again may help, {@link
 * dev.bourse.nodes.NodeFailure}.
 *
 * <p>Work on a real machine goes on when the connection or the process that began it is gone. The
 * machine itself notes who is at work, ends what is past its time with all its processes, and keeps
 * the outcome for the next who asks ({@code MachineScript}). It remembers the allocations it was
 * taken back from, so that a call which comes late lets nobody in again. Taking a machine back
 * removes keys and ends sessions before anything that needs room on a disk.
 *
 * <p>Each grant gives the tenant's login a block of 65,536 ids that no tenant of the machine had
 * before: its own id and subordinate ones. Everything that a tenant without root rights leaves on a
 * machine has one of these ids, so a reclaim searches for ids only. A leftover that the search
 * misses cannot read the next tenant's files, because that tenant has other ids. Processes are
 * killed with the rights of the tenant's id in one system call, because a scan of process ids is
 * slower than a fork bomb. A machine is free only after a last search that found nothing.
 *
 * <p>What root owns on a machine is compared with an accepted list at each reclaim ({@code
 * baseline.sh}), because a tenant who became root once leaves no file with the tenant's ids. The
 * list is on the machine and its digest in the store, so a list costs the store nothing and cannot
 * be replaced. It has configuration only: with files of packages, each upgrade would quarantine a
 * site. Loaded kernel modules are not in it, because honest programs load some.
 *
 * <p>Hardware is checked on the machine ({@code health.sh}) before the first key is written, and
 * while it is held. Only faults that a tenant cannot cause count while it is held. A program of a
 * driver may hang where no signal ends it, so one that hung is not started again.
 *
 * <p>{@link dev.bourse.nodes.SshNodes} drives real machines over ssh, each known by its pinned host
 * key; {@link dev.bourse.nodes.SimulatedNodes} needs none and serves demonstrations and load.
 *
 * <p>Rejected: ids that are unique within a site, because a large site would use up the blocks
 * within days. Rejected: control groups to end sessions, because cron's jobs are in cron's group,
 * so the search by ids is needed anyway.
 *
 * <p>Rejected, too: trust in a host key at first sight (the machine that answers first would get
 * the tenants' keys), and an agent on each machine (one more thing to install, update and secure
 * where sshd is already).
 */
@NullMarked
package dev.bourse.nodes;

import org.jspecify.annotations.NullMarked;
