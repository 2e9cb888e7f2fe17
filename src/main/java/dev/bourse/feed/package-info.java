/**
 * The public feed as pages that anybody can read in a browser: a list that is searched and paged,
 * and a page for each file.
 *
 * <p>They are the answers of the feed's interface as HTML, made by the server: each state is an
 * address, and nothing on them needs a script, a cookie or an account. The bytes are a stranger's;
 * where a host of its own is configured for them, the pages lead there.
 *
 * <p>Rejected: pages that a script fills from the interface, which a reader without scripts, and a
 * search engine, would find empty.
 */
@NullMarked
package dev.bourse.feed;

import org.jspecify.annotations.NullMarked;
