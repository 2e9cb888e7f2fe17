/**
 * The whole service under faults of the machine: processes killed and frozen, clocks set, disks
 * full, databases and networks away. {@code scripts/smoke faults} runs {@link
 * dev.bourse.faults.Faults}.
 *
 * <p>Each {@link dev.bourse.faults.Scenario} has a {@link dev.bourse.faults.FaultWorld} of its own:
 * one process on the embedded store or two on PostgreSQL, started from the jar as operators start
 * it. {@link dev.bourse.faults.Writers} drive it over HTTP and record all they see, faults are
 * injected meanwhile, and in the end {@link dev.bourse.history.LinearizabilityChecker} judges the
 * record.
 *
 * <p>{@link dev.bourse.faults.AlertScenario}, which {@code scripts/smoke signals} runs, has no
 * clients to judge: Prometheus looks at the processes, and each fault must be told by its alerts
 * alone.
 */
@NullMarked
package dev.bourse.faults;

import org.jspecify.annotations.NullMarked;
