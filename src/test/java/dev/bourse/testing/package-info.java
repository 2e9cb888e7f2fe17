/**
 * Fixtures of tests of every package: a service in this process ({@code RunningBourse}) or in one
 * of its own ({@code ChildBourse}, {@code ReplicaPair}), a market that no other test touches
 * ({@code TestMarket}), clients of it, and checks that every answer goes through.
 *
 * <p><b>Two engines.</b> A class of tests over HTTP runs on the embedded store, and {@code
 * PostgresReplay} carries out its statements on PostgreSQL ({@link
 * dev.bourse.testing.ReplayedOnPostgres}). To run every class on both engines was rejected: it took
 * a third of the build, and found nothing that the replay does not compare. Classes whose rules
 * depend on the engine itself run on both ({@link dev.bourse.testing.EachEngine}).
 */
@NullMarked
package dev.bourse.testing;

import org.jspecify.annotations.NullMarked;
