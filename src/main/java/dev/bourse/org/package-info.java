/**
 * The organization as its own tokens see it: who am I, what may I address, who are the members,
 * what tokens are there, who did what.
 *
 * <p>{@link dev.bourse.org.OrgRoutes} speaks HTTP, {@link dev.bourse.org.OrgService} decides,
 * {@link dev.bourse.org.OrgStore} and its like read the rows; trails are the audit package's. It
 * reads the store, not the clusters in memory: those belong to the capacity package, which this one
 * does not know, and hold what one surface runs, while a token can address clusters of every kind.
 * The calls are rare, so a query by index is cheap enough.
 *
 * <p>Our rows say who is a member; what is known of people besides comes through the {@link
 * dev.bourse.org.Directory} port: from the same rows, or from an identity provider over SCIM. The
 * provider can be away without the roster being away, so the port has no way to fail: it leaves out
 * whom it cannot tell of, and the roster shows these by username alone.
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
 * <p>Ssh keys, webhook endpoints and trail streams end with their author through the port {@link
 * dev.bourse.access.Offboarding}, in the same commit. Their writes demand that the caller still has
 * access ({@link dev.bourse.access.CallerGuard}), so a request in flight adds nothing after a
 * removal.
 *
 * <p>A rule for a domain is pending until a DNS record ({@link dev.bourse.org.DomainProof}) or an
 * operator proves that the domain is the organization's, because everybody with an address of it
 * may join. The store's index keeps a domain from having two owners. Records are looked up when a
 * member asks, once: a check in the background would prove again what a removal made pending.
 *
 * <p>A username is given once: what a member who left did and made stands under it for good. Things
 * that are theirs are owned by name and since when the name is theirs ({@link
 * dev.bourse.access.Members#ID}), which holds even where a version before gave a name again.
 *
 * <p>Rejected: a copy of the clusters in memory here (a second truth to keep up to date); and
 * copying the identity provider's people into our rows in the background (a stale copy would show a
 * suspended account as active for as long as the copying fails, and nobody would see that it does).
 */
@NullMarked
package dev.bourse.org;

import org.jspecify.annotations.NullMarked;
