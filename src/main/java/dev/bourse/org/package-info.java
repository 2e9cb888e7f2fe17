/**
 * The organization as its own tokens see it: the caller's identity, its clusters, members, tokens
 * and activity.
 *
 * <p>{@link dev.bourse.org.OrgRoutes} speaks HTTP, {@link dev.bourse.org.OrgService} decides,
 * {@link dev.bourse.org.OrgStore} and its siblings read the rows; trails belong to the audit
 * package. The package reads the store rather than the clusters in memory: those belong to the
 * capacity package, which this one does not know, and cover one surface, while a token can address
 * clusters of every kind. The calls are rare, so a query by index is cheap enough.
 *
 * <p>Rows decide membership; further data on people comes through the {@link
 * dev.bourse.org.Directory} port: from the same rows, or from an identity provider over SCIM. The
 * roster must stay available while the provider is not, so the port has no way to fail: it leaves
 * out people it has no data on, and the roster shows these by username alone.
 *
 * <p>Each noun has a service for the changes by operators and members ({@link
 * dev.bourse.org.OrgAdminService}, {@link dev.bourse.org.RosterService}, {@link
 * dev.bourse.org.JoinRuleService}, {@link dev.bourse.org.TokenService}). Each write locks the
 * organization's row first, so that limits, names and retirement are checked against the stored
 * state at commit, across processes. Offboarding is set-based SQL in the removal's own commit: no
 * token can be minted between the list of tokens to revoke and the revoke. Clusters of a retired
 * organization release their nodes after that commit; a look-up at the start and every minute finds
 * clusters that still hold nodes, so a crash in between leaves nothing running.
 *
 * <p>Ssh keys, webhook endpoints and trail streams end with their author through the port {@link
 * dev.bourse.access.Offboarding}, in the same commit. Their writes demand that the caller still has
 * access ({@link dev.bourse.access.CallerGuard}), so a request in flight adds nothing after a
 * removal.
 *
 * <p>A rule for a domain is pending until a DNS record ({@link dev.bourse.org.DomainProof}) or an
 * operator proves that the domain belongs to the organization, because everybody with an address in
 * the domain may join. The store's index keeps a domain from having two owners. Records are looked
 * up once, when a member asks: a background check would prove again the rules that a removal made
 * pending.
 *
 * <p>Usernames are never reused, because a former member's activity stays under the name for good.
 * A member's items are owned by name and by the time the name was given ({@link
 * dev.bourse.access.Members#ID}), which also separates owners where an earlier version reused a
 * name.
 *
 * <p>Rejected: a copy of the clusters in memory here (a second truth to keep up to date); and
 * copying the identity provider's people into our rows in the background (a stale copy would show a
 * suspended account as active for as long as the copying fails, and nobody would notice).
 */
@NullMarked
package dev.bourse.org;

import org.jspecify.annotations.NullMarked;
