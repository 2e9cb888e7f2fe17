/**
 * What clients may take: requests a minute ({@link dev.bourse.edge.limits.RequestBudgets}),
 * connections and memory ({@link dev.bourse.edge.limits.ProcessLimits}), and time ({@link
 * dev.bourse.edge.limits.EdgeLimits}).
 *
 * <p>{@link dev.bourse.edge.limits.Connections} ends the connections whose client keeps the service
 * waiting; {@code UnreadBytesHandler} counts the bytes that wait to be read; {@link
 * dev.bourse.edge.limits.Occupancy} adds up what all event loops hold. Where TLS is spoken, {@link
 * dev.bourse.edge.limits.CountedHandshakes} has connections counted before their handshakes.
 *
 * <p>What a token may spend is counted by {@code RequestBudgets}, or, for several processes, by
 * {@link dev.bourse.edge.limits.SharedBudgets} on a Redis server: the same bucket4j over Lettuce,
 * the client that bucket4j's own asynchronous back-end takes. Lettuce brings reactor-core (it
 * connects with it) and an interface for rotating credentials; both are accepted because the
 * alternative is a back-end of our own. Its Netty is the one Vert.x brings, it has two threads of
 * its own, and none of it is loaded unless a server is configured. Only {@code RedisBuckets} knows
 * it.
 */
@NullMarked
package dev.bourse.edge.limits;

import org.jspecify.annotations.NullMarked;
