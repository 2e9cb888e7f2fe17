/**
 * The service in a world of its own: the whole core of several processes on one database, run in
 * one thread by one seeded scheduler, through faults, and judged after every step.
 *
 * <p><b>What is real.</b> All of {@code app.ServiceCore}: owners, markets, fleet, billing, holds,
 * sealing, replication, uploads, upkeep; its SQL, on an SQLite in memory; Vert.x's futures,
 * contexts and timers, on a Netty loop that is run by hand ({@link
 * dev.bourse.simulation.HandRunLoop}) with the world's time ({@link
 * dev.bourse.simulation.Scheduler}). <b>What stands in</b>, at the ports: the way to the database
 * ({@link dev.bourse.simulation.Link} delays, reorders, loses orders and answers, and tells changes
 * late, twice, or only that some were missed), machines ({@link dev.bourse.simulation.Machines}),
 * the bytes' store, and the clocks. <b>What stays outside</b>: HTTP and its routes, the PostgreSQL
 * engine and its feed, ssh, files of bytes, sign-in and mail; a process has one event loop here, so
 * two loops of one process are not interleaved. Those have tests of their own, and {@code
 * scripts/smoke faults}.
 *
 * <p><b>How it goes.</b> A seed makes a {@link dev.bourse.simulation.Plan}: a scale, operations and
 * a few kinds of faults, each at its time. {@link dev.bourse.simulation.Simulation} starts the
 * processes, carries the steps out, ends all faults, waits until every time-out has passed ("at
 * rest"), and has every cluster give back what it holds ("released"). Whatever is left to chance is
 * drawn from the seed, so the same seed is the same simulation, on any machine. {@code
 * scripts/simulate} runs seeds; of one that violates an invariant it tells the fewest steps that
 * lead there and the command that shows all that happens. {@link
 * dev.bourse.simulation.SimulationTest} runs 120.
 *
 * <p><b>To add an invariant</b>, extend {@link dev.bourse.simulation.Invariant}, override the
 * moments at which it can be judged, and add it to {@link dev.bourse.simulation.Invariants#all}:
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
 * itself, and {@code Simulation.heal} undoes what has not:
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
 * <p><b>To add a scenario</b>, something clients or operators do, add a constant to {@link
 * dev.bourse.simulation.Operation} (or a list of a room's own, named in {@code Operation.all}):
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
 * <p>Rules for whoever adds here: nothing reads real time or draws from another source than the
 * seed's; nothing iterates over a set or map without an order; what is judged after every commit
 * takes microseconds, for hundreds of seeds have to fit into a build.
 *
 * <p>It is one large room because a world, its faults, its operations and its invariants reach into
 * each other at every step; only the input of hostile clients stands apart, in {@code hostile}.
 */
@NullMarked
package dev.bourse.simulation;

import org.jspecify.annotations.NullMarked;
