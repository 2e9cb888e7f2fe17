/**
 * The organization as its own tokens see it: who am I, what may I address.
 *
 * <p>{@link dev.bourse.org.OrgRoutes} answers from the principal, {@link dev.bourse.org.OrgStore}
 * adds the clusters. It reads the store, not the clusters in memory: those belong to the capacity
 * package, which this one does not know, and hold what one surface runs, while a token can address
 * clusters of every kind. The call starts a session and is rare, so a query by index is cheap
 * enough.
 *
 * <p>What operators do to organizations is in a service for each noun ({@link
 * dev.bourse.org.OrgAdminService}, {@link dev.bourse.org.RosterService}, {@link
 * dev.bourse.org.JoinRuleService}, {@link dev.bourse.org.TokenService}). Each write locks the
 * organization's row first, so that limits, names and retirement are judged on what is stored when
 * it commits, whichever process it comes from. Offboarding is set-based SQL in the removal's own
 * commit: no token can be minted between the list of what to revoke and the revoke. Clusters of a
 * retired organization give their nodes back after that commit; who still holds any is looked up at
 * the start and every minute, so a crash between leaves nothing running.
 *
 * <p>Rejected: a copy of the clusters in memory here (a second truth to keep up to date).
 */
@NullMarked
package dev.bourse.org;

import org.jspecify.annotations.NullMarked;
