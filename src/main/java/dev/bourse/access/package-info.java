/**
 * Who is calling and what they may do: organizations, API tokens, scopes, principals.
 *
 * <p>{@link dev.bourse.access.Tokens} reads every live token at the start and answers from memory,
 * so authentication never waits for the store. Of a secret only its SHA-256 is kept: it has 190
 * random bits, so a slow password hash would cost each request and protect nothing. {@link
 * dev.bourse.access.TokenSecret} carries a checksum, so that a mistyped token is refused without a
 * look-up. Times of last use are gathered and written once a minute.
 *
 * <p>Organizations' tokens are minted and revoked by {@code dev.bourse.org}, operators' by {@link
 * dev.bourse.access.OperatorTokenService}. Either reads them anew before it answers, and a reading
 * that fails is repeated every second, so that a revoked token is never taken for long. The last
 * live operator's token cannot be revoked: nobody could mint another.
 *
 * <p>Rejected: signed tokens that carry their own claims (they cannot be revoked before they
 * expire), and scopes that imply others (what a token may do would no longer be what it lists).
 */
@NullMarked
package dev.bourse.access;

import org.jspecify.annotations.NullMarked;
