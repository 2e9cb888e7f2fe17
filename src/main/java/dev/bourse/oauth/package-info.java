/**
 * The authorization server: applications get tokens to act for members (OAuth 2.1, RFC 8414, 7591,
 * 7009, 8628, 8707, 9207, 9728 and client-id metadata documents).
 *
 * <p>A member's permission is a grant. {@link dev.bourse.oauth.Grants} creates it from a consent
 * and issues codes and tokens for it; {@link dev.bourse.oauth.DeviceFlow} does so for programs
 * without a browser. {@link dev.bourse.oauth.ClientRegistry} knows the applications: registered
 * ones, those whose id is the address of a metadata document, and the command line. All
 * applications are public clients: none has a secret, and PKCE binds a code to the client that
 * requested it.
 *
 * <p>Codes and refresh tokens are random, stored as digests, and valid once. The second use of
 * either ends the grant with all its tokens, because one of the two users is a thief; an access
 * token names its grant, so it is refused at the next request. Two simultaneous uses count as a
 * second use as well: a grace period would serve the thief. Refresh tokens of a grant share a
 * prefix, so that one row distinguishes a used token from a forged one ({@link
 * dev.bourse.oauth.RefreshToken}).
 *
 * <p>A consent may set limits ({@link dev.bourse.access.TokenLimits}). The member can narrow them
 * later; only another consent can widen them.
 *
 * <p>A publishing credential ({@link dev.bourse.oauth.PublishingCredentials}) is a grant without an
 * application: a job publishes checkpoints with its token, whose audience no other operation
 * accepts. Its commits check its limit of bytes and its node, so both hold in every process.
 *
 * <p>Anybody may register, name a document, or request device codes: each of these is throttled by
 * the caller's address and bounded in total, and strangers' rows are evicted before those in use.
 * Suspending or removing a member ends their grants in the same commit.
 *
 * <p>Rejected: remembered consent (a page that redirects without asking turns any link into a
 * grant); {@code plain} PKCE; client secrets; patterns in redirect addresses, which are compared
 * exactly except for the port of a loopback address; a row for each refresh token (they outnumber
 * the grants without a bound); and an HMAC in its place (a reader of the store could forge tokens).
 */
@NullMarked
package dev.bourse.oauth;

import org.jspecify.annotations.NullMarked;
