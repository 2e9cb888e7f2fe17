/**
 * The measurements of held nodes' GPUs, which their agents report ({@code openapi/node.yaml}) and
 * members read.
 *
 * <p>A report is kept in the memory of the process that receives it ({@link
 * dev.bourse.hardware.HardwareMetrics}): ten thousand nodes write 330 reports a second, of which
 * nobody reads most, and none of them decides about money. So no report is stored or sent to other
 * processes, and a process returns null for what it has not heard. Behind a balancer that sends an
 * address to one process, that process has the whole series; behind others, each has a part.
 *
 * <p>A series belongs to an allocation and not to a machine, so a tenant cannot see the
 * measurements of an earlier one: an allocation ends at its reclaim and its id is never used again.
 * The time of a report is the time of its arrival, because a tenant with root rights sets the
 * machine's clock. Such a tenant can also send any value, but only for its own node.
 *
 * <p>A node with eight GPUs takes 22 KB ({@link dev.bourse.hardware.NodeSeries}), so ten thousand
 * take 220 MB. All series together take an eighth of the heap at most; beyond that, some nodes are
 * unknown.
 *
 * <p>Rejected: rows for each report, which would be the largest table of the store within a day;
 * and one process that all reports are forwarded to, because there is no such channel between
 * processes, and the database is not one for values that are obsolete after 30 seconds.
 */
@NullMarked
package dev.bourse.hardware;

import org.jspecify.annotations.NullMarked;
