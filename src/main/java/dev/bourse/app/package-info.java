/**
 * The whole, put together; nobody imports this package.
 *
 * <p>{@link dev.bourse.app.Main} is the command line; each of its commands is a class {@code
 * *Command}, and {@code SettingsOptions} says which service they mean. {@code Config} maps settings
 * onto the packages' records and {@code WorldFile} reads the pools, machines and organizations that
 * {@code Seeding} adds to the store; both report every fault in one go, since an operator had
 * better not find them one start at a time. {@code Bourse} is one running service, wired by hand:
 * {@code StoreOpening} opens and seeds the store, {@code AccessControl} knows who may call, {@code
 * ServiceCore} is all that works without HTTP (owners of clusters, markets, money, trails, files),
 * {@code Features} binds the operations that it answers, {@code Serving} takes requests and only
 * then says ready; the way back is the same in reverse ({@code ShutdownHooks}).
 *
 * <p>Rejected: a container that injects dependencies (the wiring is a page or two, and the compiler
 * checks it), and a world file that changes what is stored (it would undo what operators did
 * since).
 */
@NullMarked
package dev.bourse.app;

import org.jspecify.annotations.NullMarked;
