/**
 * Sign-in of members: by a one-time link mailed to them or by an OpenID Connect provider, and then
 * by a session.
 *
 * <p>{@link dev.bourse.signin.SignInRoutes} are the pages before a session, {@link
 * dev.bourse.signin.AccountRoutes} those with one; {@link dev.bourse.signin.Sessions} authenticates
 * the browser for other pages (consent, device codes, the console). {@link
 * dev.bourse.org.Memberships} decides which addresses may sign in.
 *
 * <p>Secrets (sessions, links) are random, held only by the browser or the mail, and stored as
 * digests. Each request looks its session up in the store together with its member, so that
 * removals, suspensions and sign-outs take effect at once in every process; requests for pages are
 * rare enough for that. Forms carry a token derived from the cookie's secret, also before sign-in,
 * and their origin is checked as well. A link opened by GET only shows a button, because mail
 * scanners open links, too. Neither the answer nor its time reveals whether an address is known,
 * because the answer is sent before any look-up.
 *
 * <p>Anybody can have a link mailed to anybody, so a link does not redirect other browsers to its
 * requester's target: the target applies only in the requesting browser, identified by its cookie.
 * Strangers who request links for an address must not lock its owner out: requests are counted for
 * each network, and past the bound over all networks the links already mailed still work.
 *
 * <p>Rejected: passwords; a new request that invalidates earlier links, which would let strangers
 * invalidate an owner's; sessions in signed cookies, which cannot be revoked; and storing the state
 * of unfinished sign-ins, which strangers could flood: it is derived from their cookie.
 */
@NullMarked
package dev.bourse.signin;

import org.jspecify.annotations.NullMarked;
