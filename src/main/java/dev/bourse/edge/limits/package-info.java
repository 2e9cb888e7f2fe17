/**
 * Limits of clients' resources: requests a minute ({@link dev.bourse.edge.limits.RequestBudgets}),
 * connections and memory ({@link dev.bourse.edge.limits.ProcessLimits}), and time ({@link
 * dev.bourse.edge.limits.EdgeLimits}).
 *
 * <p>{@link dev.bourse.edge.limits.Connections} closes the connections of slow clients; {@code
 * UnreadBytesHandler} counts unread bytes; {@link dev.bourse.edge.limits.Occupancy} sums up the
 * resources of all event loops. With TLS, {@link dev.bourse.edge.limits.CountedHandshakes} counts
 * connections before their handshakes.
 *
 * <p>{@code RequestBudgets} counts the requests of a token in one process, and {@link
 * dev.bourse.edge.limits.SharedBudgets} for several processes on a Redis server: the same bucket4j
 * over Lettuce, which is the client of bucket4j's own asynchronous back-end. Lettuce depends on
 * reactor-core (it connects with it) and an interface for rotating credentials; both are accepted
 * because the alternative is a back-end of our own. It shares Netty with Vert.x, has two threads of
 * its own, and is not loaded unless a server is configured. Only {@code RedisBuckets} uses it.
 */
@NullMarked
package dev.bourse.edge.limits;

import org.jspecify.annotations.NullMarked;
