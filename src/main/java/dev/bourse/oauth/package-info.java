/**
 * The authorization server: applications get tokens to act for members (OAuth 2.1, RFC 8414, 7591,
 * 7009, 8628, 8707, 9207, 9728 and client-id metadata documents).
 *
 * <p>A member's permission is a grant. {@link dev.bourse.oauth.Grants} makes it from a consent,
 * hands out codes and tokens for it, and ends it; {@link dev.bourse.oauth.DeviceFlow} does so for
 * programs without a browser. What applications there are is asked of {@link
 * dev.bourse.oauth.ClientRegistry}: those that registered, those whose id is the address of a
 * document about them, and our own command line. All applications are public clients: none has a
 * secret, PKCE binds a code to who asked for it.
 *
 * <p>Codes and refresh tokens are random, stored as digests, and good once. The second use of
 * either ends the grant with all its tokens, for one of the two users is a thief; an access token
 * says which grant it goes with, so it is refused at the next request. Two uses at the same moment
 * count as a second use as well: a grace would be the thief's. Refresh tokens of a grant begin
 * alike, so that one row tells a used one from one that is made up ({@link
 * dev.bourse.oauth.RefreshToken}).
 *
 * <p>A consent may be under limits ({@link dev.bourse.access.TokenLimits}). The member can narrow
 * them later; nothing widens them but another consent.
 *
 * <p>Anybody may register, name a document, ask for device codes: each of these is throttled by the
 * caller's address and bounded in all, and what a stranger stores goes before what members use.
 * Suspending or removing a member ends their grants in its own commit.
 *
 * <p>Rejected: consent that is remembered (a page that redirects unasked turns any link into a
 * grant), {@code plain} PKCE, secrets of clients, patterns in redirect addresses, which are
 * compared letter by letter but for the port of a loopback address, and a row for each refresh
 * token (they outnumber the grants without a bound) or an HMAC in its place (whoever reads the
 * store could make tokens).
 */
@NullMarked
package dev.bourse.oauth;

import org.jspecify.annotations.NullMarked;
