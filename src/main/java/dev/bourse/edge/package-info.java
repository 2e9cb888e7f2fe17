/**
 * The way in: contracts become routers, requests become {@link dev.bourse.edge.Call}s, {@link
 * dev.bourse.edge.Answer}s and errors become JSON.
 *
 * <p>A feature binds an {@link dev.bourse.edge.Operation} to each operationId of its contract; all
 * else about HTTP stays here. {@link dev.bourse.edge.Edge} puts the parts together and refuses to
 * when contracts and handlers do not fit. A request passes {@code EdgeLoop} to its route and {@code
 * Entrance} to its operation; what was read of it is {@code Received}, what is sent its {@code
 * Exchange}; {@code Connections} ends what keeps us waiting, and {@code HeadWatch} counts what
 * waits against what the process can carry ({@link dev.bourse.edge.Room}). Bodies that are bytes
 * come in block by block ({@link dev.bourse.edge.Inbound}), long answers go out piece by piece
 * ({@link dev.bourse.edge.Pieces}) or as stored bytes ({@link dev.bourse.edge.Bytes}), so that
 * memory does not grow with either. Streams of events ({@link dev.bourse.edge.EventSource}) stay
 * open; what waits for a client is bounded, and whoever does not take it is dropped.
 *
 * <p>What a token may spend is counted by {@code Budgets}, or, for several processes, by {@link
 * dev.bourse.edge.SharedBudgets} on a Redis server: the same bucket4j over Lettuce, the client that
 * bucket4j's own asynchronous back-end takes. Lettuce brings reactor-core (it connects with it) and
 * an interface for rotating credentials; both are accepted because the alternative is a back-end of
 * our own. Its Netty is the one Vert.x brings, it has two threads of its own, and none of it is
 * loaded unless a server is configured. Only {@code RedisBuckets} knows it.
 *
 * <p>Parameters and bodies are checked on the event loop, against shapes of our own, compiled once
 * from the contracts ({@link dev.bourse.edge.Shape}): they stop at the first fault and count before
 * they look, so that bad input costs no more than good. The schema library judges the same in the
 * tests; at run time it would find all faults before it named one (32,000 bad items held an event
 * loop for 400 ms) and needs a lock. No pattern of a contract may recurse or backtrack ({@code
 * PatternRules}, at build), and each is told to callers in words ({@code x-accepts}). Callers are
 * told from their tokens in {@code Entrance}, not by the router's security handlers: the contracts
 * name the order of all checks, a token's budget stands between two of them, and one operation may
 * take several kinds of caller.
 *
 * <p>Rejected: the router library's own validation, which leaves the event loop for each request
 * and decodes parameters twice; its body handler, which has no minimum rate; and its failure
 * handlers on the hot path. What the library does here is routing.
 */
@NullMarked
package dev.bourse.edge;

import org.jspecify.annotations.NullMarked;
