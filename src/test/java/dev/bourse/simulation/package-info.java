/**
 * Deterministic simulation of the service: the whole core of several processes on one database, run
 * in one thread by one seeded scheduler, under faults, with invariants checked after every step.
 *
 * <p><b>What is real.</b> All of {@code app.ServiceCore}: owners, markets, fleet, billing, holds,
 * sealing, replication, uploads, upkeep; its SQL, on an SQLite in memory; Vert.x's futures,
 * contexts and timers, on a Netty loop that runs on demand ({@link
 * dev.bourse.simulation.ManualLoop}) with the world's time ({@link
 * dev.bourse.simulation.Scheduler}). <b>What is simulated</b>, at the ports: the connection to the
 * database ({@link dev.bourse.simulation.Link} delays, reorders, loses requests and answers,
 * settles outcomes, and delivers changes late, twice, or only as a gap), machines ({@link
 * dev.bourse.simulation.Machines}), the blob store, and the clocks. <b>What is left out</b>: HTTP
 * and its routes, the PostgreSQL engine and its feed, ssh, files of bytes, sign-in and mail; a
 * process has one event loop here, so two loops of one process are not interleaved. Those have
 * tests of their own, and {@code scripts/smoke faults}.
 *
 * <p><b>How it works.</b> A seed gives a {@link dev.bourse.simulation.Plan}: a scale, operations
 * and a few kinds of faults, each with its time. {@link dev.bourse.simulation.Simulation} starts
 * the processes, performs the steps, ends all faults, waits until every time-out has passed ("at
 * rest"), and lets every cluster release its nodes ("released"). All random choices come from the
 * seed, so a seed is the same simulation on any machine. {@code scripts/simulate} runs seeds; for
 * one that violates an invariant it prints the fewest steps that cause it and the command that
 * replays them with the full trace. {@link dev.bourse.simulation.SimulationTest} runs 120.
 *
 * <p><b>To add an invariant</b>, extend {@link dev.bourse.simulation.Invariant}, override the
 * moments at which it can be checked, and add it to {@link dev.bourse.simulation.Invariants#all}:
 *
 * <pre>{@code
 * // No cluster holds more nodes than the pool has.
 * static final class HoldsWhatThereIs extends Invariant {
 *   void atRest(World world) {
 *     long held = world.server.engine()
 *         .number("SELECT COUNT(*) FROM allocation WHERE gone_at IS NULL");
 *     if (held > world.scale.nodes()) {
 *       throw violated("{} of {} nodes are held", held, world.scale.nodes());
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p><b>To add a fault</b>, add a constant to {@link dev.bourse.simulation.Fault}; it ends by
 * itself, and {@code Simulation.heal} ends it otherwise:
 *
 * <pre>{@code
 * // The first process is stopped for ten seconds.
 * FIRST_STOPS(
 *     (world, random) -> {
 *       Replica first = world.slots().get(0).replica;
 *       if (first != null && first.isReady()) {
 *         first.pause();
 *         later(world, random, 10_000, first::resume);
 *       }
 *     }),
 * }</pre>
 *
 * <p><b>To add an operation</b> of clients or operators, add a constant to {@link
 * dev.bourse.simulation.ClientOperation} or another list in {@code ClientOperation.all}:
 *
 * <pre>{@code
 * // A member lists the keys of an organization.
 * LIST_KEYS(
 *     (world, random) ->
 *         ready(world, random)
 *             .ifPresent(
 *                 process ->
 *                     world.clients.call(
 *                         process,
 *                         "lists keys",
 *                         core -> Future.succeededFuture(
 *                             core.keys().listSshKeys(Clients.principal("org0"), "org0"))))),
 * }</pre>
 *
 * <p><b>To show that an invariant can fail</b>, plant a {@link dev.bourse.simulation.Bug} at a port
 * and run {@code scripts/simulate --bug NAME}; {@code --bugs} runs them all.
 *
 * <p><b>When the database is set back</b>, acknowledgements to clients and the state of machines
 * belong to a lost past. An invariant is checked further only if it {@linkplain
 * dev.bourse.simulation.Invariant#outlivesSetBack allows it}; the others hold up to that moment.
 *
 * <p>Rules for additions: no code reads real time or another source of randomness than the seed's;
 * no code iterates over an unordered set or map; checks after every commit take microseconds,
 * because hundreds of seeds must fit into a build.
 *
 * <p>It is one large package because a world, its faults, its operations and its invariants depend
 * on each other at every step; only hostile input is separate, in {@code hostile}.
 */
@NullMarked
package dev.bourse.simulation;

import org.jspecify.annotations.NullMarked;
