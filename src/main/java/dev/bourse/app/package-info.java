/**
 * The service, put together; nothing but its own commands imports this package.
 *
 * <p>{@code Config} maps settings onto the packages' records; it reports every fault in one go, as
 * an operator had better not find them one start at a time. {@code Bourse} is one running service,
 * wired by hand: {@code StoreOpening} opens and seeds the store, {@code AccessControl} knows who
 * may call, {@code ServiceCore} is all that works without HTTP (owners of clusters, markets, money,
 * trails, files), {@code Features} binds the operations that it answers, {@code Serving} takes
 * requests and only then says ready. {@code ShutdownHooks} goes the same way in reverse.
 *
 * <p>A container that injects dependencies was rejected: the wiring is a page or two, and the
 * compiler checks it.
 */
@NullMarked
package dev.bourse.app;

import org.jspecify.annotations.NullMarked;
