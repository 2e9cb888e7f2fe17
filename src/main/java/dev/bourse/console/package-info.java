/**
 * What members do on the console, over HTTP: the JSON operations of the console contract, one class
 * a noun. Each asks the service of the feature whose rules it goes by, with the member as actor.
 *
 * <p>It is a package of routes alone, as {@code operator} is: what a member and an operator do to
 * the same thing is one service, and the two differ in who may ask and how they are named. Every
 * change leaves an audit row in its own commit. Changes to members, invitations, rules and tokens
 * are refused there when their member was removed meanwhile, for these outlive the removal; for
 * others it is enough that the session or token was in force when the request came in.
 *
 * <p>A member mints tokens with no more than their own credential allows: an application that may
 * run the organization, but not spend its money, must not give itself a token that does.
 *
 * <p>Rejected: operations that only the console's pages may call, for what a page can do a program
 * with the member's token can do as well; roles among members, for every member administers the
 * organization, as its roster says.
 */
@NullMarked
package dev.bourse.console;

import org.jspecify.annotations.NullMarked;
