/**
 * Who is calling and what they may do: organizations, their API tokens and members, operators.
 *
 * <p>{@link dev.bourse.access.Tokens} reads every live token at the start and answers from memory,
 * so authentication never waits for the store. Of a secret only its SHA-256 is kept: it has 190
 * random bits, so a slow password hash would cost each request and protect nothing. {@link
 * dev.bourse.core.TokenSecret} carries a checksum, so that a mistyped token is refused without a
 * look-up. Times of last use are gathered and written once a minute.
 *
 * <p>Organizations' tokens are minted and revoked by {@code dev.bourse.org}, operators' by {@link
 * dev.bourse.access.OperatorTokenService}. Either reads them anew before it answers, and a reading
 * that fails is repeated every second, so that a revoked token is never taken for long. The last
 * live operator's token that may do all cannot be revoked: nobody could mint another.
 *
 * <p>An operator's token may reach less than all ({@link dev.bourse.access.OperatorReach}): it only
 * reads, or is for the machines of one site. What an operator of one site may call is marked in the
 * contract, so that an operation is refused until somebody has thought about it; which pool and
 * which node {@link dev.bourse.access.Operator#requireSite} decides, asked where a change reads it.
 *
 * <p>Members act with signed tokens ({@link dev.bourse.access.MemberTokens}), for they sign in anew
 * all the time and nothing of it has to be stored. What such a token claims is who it is for, not
 * what they may do: whether the member may still act is asked of {@link dev.bourse.access.Members}
 * at each request, and whether it was revoked of {@link dev.bourse.access.Revocations}. The keys
 * are {@link dev.bourse.access.SigningKeys}: the public half is a row of the store, so that every
 * process verifies every other's tokens; the private half is an encrypted one that all processes
 * sign with ({@code keyring}), or, without a secret key, a file of the process that made it.
 *
 * <p>Browsers have sessions ({@link dev.bourse.access.SessionAuthenticator}), which may do all that
 * a member may. A browser sends their cookie along with whatever any page has it ask for, so what
 * changes something takes besides what only a page of ours can know.
 *
 * <p>Of the scopes ({@link dev.bourse.access.Scope}) four are for members alone: an organization's
 * token cannot be minted with them, because what they allow is done in a person's name, or is open
 * to every token of the organization anyway. Signing in and the permissions of applications are not
 * here but in {@code signin} and {@code oauth}: they are pages and HTTP, and every feature imports
 * this package.
 *
 * <p>A credential is judged when the request arrives, and again when a write that the trail records
 * is carried out, because that may be much later ({@link dev.bourse.access.Authenticator#confirm}).
 * What a process knows of revocations must be at most a second old then; in memory for tokens and
 * members, by a query for sessions. Rejected: a condition in the SQL of each write, which costs
 * each write a look-up in the database and knows neither sessions nor consents.
 *
 * <p>How far a token's declarations may go ({@link dev.bourse.access.TokenLimits}) is in memory
 * with the token. An application's limits are read with its member's consent at each write ({@link
 * dev.bourse.access.LimitStore}), not claimed by its access tokens: what was narrowed holds at
 * once, for those that are out already, on every process. Whether a declaration is within them is
 * judged by {@code capacity}.
 *
 * <p>Rejected: signed tokens for organizations (they could not be revoked before they expire, and
 * live for months), and scopes that imply others (what a token may do would no longer be what it
 * lists).
 */
@NullMarked
package dev.bourse.access;

import org.jspecify.annotations.NullMarked;
