/**
 * Assembles the service; only its own commands import this package.
 *
 * <p>{@code Config} maps settings onto the packages' records; it reports all faults at once, so
 * that an operator does not find them one start at a time. {@code Bourse} is one running service,
 * wired by hand: {@code StoreOpening} opens and seeds the store, {@code AccessControl} identifies
 * callers, {@code ServiceCore} contains everything except HTTP (owners of clusters, markets, money,
 * trails, files), {@code Features} binds operations to it, {@code HttpServers} takes requests and
 * then reports ready. {@code ShutdownHooks} stops the parts in reverse order.
 *
 * <p>A dependency injection container was rejected: the wiring is a page or two, and the compiler
 * checks it.
 */
@NullMarked
package dev.bourse.app;

import org.jspecify.annotations.NullMarked;
