/**
 * The organization as its own tokens see it: who am I, what may I address.
 *
 * <p>{@link dev.bourse.org.OrgRoutes} answers from the principal, {@link dev.bourse.org.OrgStore}
 * adds the clusters. It reads the store, not the clusters in memory: those belong to the capacity
 * package, which this one does not know, and hold what one surface runs, while a token can address
 * clusters of every kind. The call starts a session and is rare, so a query by index is cheap
 * enough.
 *
 * <p>Rejected: a copy of the clusters in memory here (a second truth to keep up to date).
 */
@NullMarked
package dev.bourse.org;

import org.jspecify.annotations.NullMarked;
