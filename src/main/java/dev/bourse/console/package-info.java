/**
 * The members' operations of the console over HTTP: the JSON operations of the console contract,
 * one class for each noun. Each calls the service of the feature that owns the rules, with the
 * member as actor.
 *
 * <p>It is a package of routes alone, like {@code operator}: members and operators use the same
 * service for a noun, and the two differ only in authorization and in the actor's name. Every
 * change leaves an audit row in its own commit. Changes to members, invitations, rules and tokens
 * are refused there when the acting member was removed meanwhile, because these outlive the
 * removal; for other changes it is enough that the session or token was valid when the request
 * arrived.
 *
 * <p>A member mints tokens with no more rights than their own credential has: an application that
 * may manage the organization, but not spend its money, must not create a token that may.
 *
 * <p>Rejected: operations that only the console's pages may call, because a program with the
 * member's token can do the same; and roles among members, because every member administers the
 * organization, as its roster says.
 */
@NullMarked
package dev.bourse.console;

import org.jspecify.annotations.NullMarked;
