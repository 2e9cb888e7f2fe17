/**
 * Callers and their permissions: organizations, their API tokens and members, and operators.
 *
 * <p>{@link dev.bourse.access.Tokens} reads every live token at the start and authenticates from
 * memory, so authentication never waits for the store. Only the SHA-256 of a secret is stored: it
 * has 190 random bits, so a slow password hash would cost time at each request without more
 * protection. {@link dev.bourse.core.TokenSecret} has a checksum, so a mistyped token is rejected
 * without a look-up. Times of last use are written once a minute.
 *
 * <p>{@code dev.bourse.org} mints and revokes organizations' tokens, {@link
 * dev.bourse.access.OperatorTokenService} operators' tokens. Both read the token again before they
 * answer, and a failed read is retried every second, so a revoked token is not accepted for long.
 * The last live unrestricted operator token cannot be revoked, because nobody could mint another
 * one.
 *
 * <p>An operator token may be restricted ({@link dev.bourse.access.OperatorReach}): to reads, or to
 * the machines of one site. The contract marks the operations that an operator of one site may
 * call, so a new operation is rejected until its author decides. {@link
 * dev.bourse.access.Operator#requireSite} checks each pool and node where a change reads it.
 *
 * <p>Members act with signed tokens ({@link dev.bourse.access.MemberTokens}), because they sign in
 * often and signed tokens need no row. Such a token identifies the member but proves no right:
 * {@link dev.bourse.access.Members} checks at each request whether the member is active, and {@link
 * dev.bourse.access.Revocations} whether the token was revoked. The keys are {@link
 * dev.bourse.access.SigningKeys}: the public half is a row of the store, so that every process
 * verifies the tokens of all others. The private half is an encrypted row that all processes sign
 * with ({@code keyring}), or, without a secret key, a file of the process that made it.
 *
 * <p>Browsers have sessions ({@link dev.bourse.access.SessionAuthenticator}), which may do all that
 * a member may. A browser sends its cookie with requests of any site's page, so writes also require
 * a token that only the service's own pages know.
 *
 * <p>Four scopes ({@link dev.bourse.access.Scope}) are for members only: an organization's token
 * cannot be minted with them, because they allow actions in a person's name, or because every token
 * of the organization has that permission anyway. Sign-in and the consents of applications are in
 * {@code signin} and {@code oauth}, because they consist of pages and HTTP and every feature
 * imports this package.
 *
 * <p>A credential is checked when the request arrives, and again when an audited write is
 * committed, which may be much later ({@link dev.bourse.access.Authenticator#confirm}). The
 * process's information about revocations must then be at most a second old. It is in memory for
 * tokens and members, and queried for sessions. Rejected: a condition in the SQL of each write,
 * which costs a look-up in the database per write and does not cover sessions and consents.
 *
 * <p>The limits of a token's declarations ({@link dev.bourse.access.TokenLimits}) are in memory
 * with the token. An application's limits are read with its member's consent at each write ({@link
 * dev.bourse.access.LimitStore}) and are not claims of its access tokens, so narrower limits apply
 * at once, to tokens that are already issued too, in every process. {@code capacity} checks whether
 * a declaration is within them.
 *
 * <p>Rejected: signed tokens for organizations (they could not be revoked before they expire, and
 * live for months), and scopes that imply others (a token could then do more than it lists).
 */
@NullMarked
package dev.bourse.access;

import org.jspecify.annotations.NullMarked;
