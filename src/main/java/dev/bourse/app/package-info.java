/**
 * The whole, put together; nobody imports this package.
 *
 * <p>{@link dev.bourse.app.Main} is the command line; each of its commands is a class {@code
 * *Command}, and {@code SettingsOptions} says which service they mean. {@code Config} maps settings
 * onto the packages' records and {@code World} reads the pools, machines and organizations that
 * {@code Seeding} adds to the store; both report every fault in one go, since an operator had
 * better not find them one start at a time. {@code Bourse} is one running service, wired by hand:
 * {@code StoreOpening} opens and seeds the store, {@code Callers} reads who may call, {@code
 * Features} starts the owners of clusters and the market and binds the operations, {@code Serving}
 * takes requests and only then says ready; the way back is the same in reverse ({@code Stops}).
 *
 * <p>Rejected: a container that injects dependencies (the wiring is a page or two, and the compiler
 * checks it), and a world file that changes what is stored (it would undo what operators did
 * since).
 */
@NullMarked
package dev.bourse.app;

import org.jspecify.annotations.NullMarked;
