/**
 * The machines behind the market: the {@link dev.bourse.nodes.NodeProvider} port and its providers.
 *
 * <p>A provider knows machines, keys and commands; it knows nothing of clusters, prices or slots.
 * All its operations can be repeated: whoever drives it calls again after a crash and the machine
 * ends in the same state. A failure says whether trying again may help, {@link
 * dev.bourse.nodes.NodeFailureException}.
 *
 * <p>Work on a real machine goes on when the connection or the process that began it is gone. The
 * machine itself notes who is at work, ends what is past its time with all its processes, and keeps
 * the outcome for the next who asks ({@code MachineScript}). It remembers the allocations it was
 * taken back from, so that a call which comes late lets nobody in again. Taking a machine back
 * removes keys and ends sessions before anything that needs room on a disk.
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
 * <p>What root owns on a machine is compared with an accepted list at each reclaim ({@code
 * baseline.sh}), because a tenant who became root once leaves no file with the tenant's ids. The
 * list is on the machine and its digest in the store, so a list costs the store nothing and cannot
 * be replaced. It has configuration only: with files of packages, each upgrade would quarantine a
 * site. Loaded kernel modules are not in it, because honest programs load some.
 *
 * <p>What a tenant with root rights leaves has root's ids, so no search on the machine finds it.
 * Such a machine gets a new image instead ({@code ReimageCommand}), by a command on the service's
 * host, which answers with the new host key. An answer of the machine itself would prove nothing,
 * because its tenant could copy the old host key and imitate the new image.
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
 * who is root can forge each check, see {@link dev.bourse.nodes.MachineTerms#hasRootTenants}.
 *
 * <p>A notice ({@code notice.sh}) reaches the tenant's programs through a file that only root can
 * write and through one process with the tenant's ids, so whatever the tenant prepared runs, opens
 * or signals with the tenant's own rights. Its lock is its own: a reclaim kills a notice that is
 * under way and keeps the lock, so no program of the tenant starts after the last search. The
 * machine keeps the last notice and its sequence, so repeated and late deliveries change nothing
 * and nobody else has to remember them. It answers the sequence if it ignores a notice, because a
 * database that was set back counts leases from below.
 *
 * <p>{@link dev.bourse.nodes.SshNodes} drives real machines over ssh, each known by its pinned host
 * key; {@link dev.bourse.nodes.SimulatedNodes} needs none and serves demonstrations and load.
 *
 * <p>Rejected: control groups to end sessions, because cron's jobs are in cron's group, so the
 * search by ids is needed anyway. That ends fork storms and programs that change their ids, too,
 * also on a machine with twenty times the load that it has processors for. A machine on which it
 * takes too long is not granted, so a group would save time only.
 *
 * <p>Rejected: signals to processes by root after a check of their owner, because a process id may
 * be another's by then.
 *
 * <p>Rejected, too: trust in a host key at first sight (the machine that answers first would get
 * the tenants' keys), and an agent on each machine (one more thing to install, update and secure
 * where sshd is already).
 */
@NullMarked
package dev.bourse.nodes;

import org.jspecify.annotations.NullMarked;
