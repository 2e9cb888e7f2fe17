/**
 * The engine on a PostgreSQL server, which several processes share.
 *
 * <p>Every commit that changes what processes hold in memory leaves rows of topic and key in {@code
 * change_feed}, in the same transaction. A process reads what its last snapshot of the server did
 * not show and the one of now does, several times a second, and at once when a notification wakes
 * it. Notifications alone were rejected because a lost one is lost; ids in their order, because
 * they are drawn before commits are ordered, so that a reader passes the row of a transaction that
 * is still open; waiting for such, because one that hangs would hold up all.
 *
 * <p>A small row travels in the notification itself, so that who hears it asks the server nothing.
 * Its version is in the feed: that is read in any case, and tells whether the row arrived.
 */
@NullMarked
package dev.bourse.store.postgres;

import org.jspecify.annotations.NullMarked;
