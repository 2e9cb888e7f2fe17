/**
 * Members sign in: by a one-time link mailed to them or by an OpenID Connect provider, and from
 * then on by a session.
 *
 * <p>{@link dev.bourse.signin.SignInRoutes} are the pages up to a session, {@link
 * dev.bourse.signin.AccountRoutes} those after it; {@link dev.bourse.signin.Sessions} is what other
 * pages (consent, device codes, the console) ask who is there. Who may come in is not decided here
 * but by {@link dev.bourse.org.Memberships}.
 *
 * <p>What is secret is random, held by the browser or the mail alone, and stored as a digest:
 * sessions, links. A session is looked up in the store at each request together with its member, so
 * that whoever is removed, suspended or signed out elsewhere is refused at once by every process;
 * pages for people are rare enough for that. Forms carry a token derived from the cookie's secret,
 * before sign-in too, and where a form comes from is checked besides. A link opened by GET only
 * shows a button: mail scanners open links, too. Whether an address is known shows neither in the
 * answer nor in its time, because the answer is given before anything is looked up.
 *
 * <p>Anybody can have a link mailed to anybody, so a link carries nothing of who asked for it:
 * where it leads counts in their browser alone, by its cookie. And whoever asks for another's links
 * must not use up the other's way in: what is asked for is counted for each network, and past the
 * bound over all of them the links already mailed, which all work, are enough.
 *
 * <p>Rejected: passwords; making a new request end the links before it, by which strangers would
 * end one's own; sessions in signed cookies, which nobody can end; state of unfinished sign-ins in
 * the store, which strangers could fill: it is derived from their cookie.
 */
@NullMarked
package dev.bourse.signin;

import org.jspecify.annotations.NullMarked;
