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
 * <p>Each grant gives the tenant's login ids that no tenant of the machine had before: one block of
 * 65,536, the login's own and subordinate ones. All that a tenant without the rights of root can
 * leave on a machine has one of its ids, whoever started it and wherever it is, so a reclaim looks
 * for nothing else; and what it overlooked would belong to nobody in the next grant. Processes are
 * killed with the rights of the tenant's own id, by one system call for all, because a search by
 * process id is slower than a program that forks. A machine is free only after a last search that
 * found nothing.
 *
 * <p>{@link dev.bourse.nodes.SshNodes} drives real machines over ssh, each known by its pinned host
 * key; {@link dev.bourse.nodes.SimulatedNodes} needs none and serves demonstrations and load.
 *
 * <p>Rejected: ids that no tenant of the whole site had before (the blocks would last a large site
 * for days), and control groups to end sessions by (a process is in the group of whatever started
 * it, cron's among them, so a search by id is needed all the same).
 *
 * <p>Rejected, too: trust in a host key at first sight (the machine that answers first would get
 * the tenants' keys), and an agent on each machine (one more thing to install, update and secure
 * where sshd is already).
 */
@NullMarked
package dev.bourse.nodes;

import org.jspecify.annotations.NullMarked;
