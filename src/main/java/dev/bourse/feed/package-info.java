/**
 * The public feed as pages that anybody can read in a browser: a searchable, paged list, and a page
 * for each file.
 *
 * <p>The server renders the answers of the feed's API as HTML: each state has an address, and no
 * page needs a script, a cookie or an account. The bytes are a stranger's; if a separate host is
 * configured for them, the pages link there.
 *
 * <p>Rejected: pages filled by scripts from the API, which would be empty for readers without
 * scripts and for search engines.
 */
@NullMarked
package dev.bourse.feed;

import org.jspecify.annotations.NullMarked;
