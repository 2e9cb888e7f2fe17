/**
 * Who is calling and what they may do: organizations, API tokens, scopes, principals.
 *
 * <p>Tokens are held in memory for look-up, so authentication never waits for the store; a mint or
 * a revoke commits first and changes memory after.
 */
@NullMarked
package dev.bourse.access;

import org.jspecify.annotations.NullMarked;
