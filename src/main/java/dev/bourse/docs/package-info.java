/**
 * What anyone may read: the contracts as JSON, the guides, the reference made from the contracts,
 * one search over both, and the texts that lead programs there ({@code /llms.txt}, {@code
 * /AGENTS.md}, {@code /skills/bourse/SKILL.md}).
 *
 * <p>A page is made when somebody first asks for it, on a worker thread, and then kept: about 6 MB
 * once all were. Guides are Markdown in {@code resources/guides}; they are rendered by
 * commonmark-java, which needs nothing else, and wear the style of {@code resources/pages}. The one
 * script is the search box, and pages read the same without it.
 *
 * <p>Rejected: a documentation viewer of a library's, which brought 1.5 MB of script, a look of its
 * own, and a policy that had to allow inline styles; and a site generator at build time, because
 * pages carry the address and the budget in force.
 */
@NullMarked
package dev.bourse.docs;

import org.jspecify.annotations.NullMarked;
