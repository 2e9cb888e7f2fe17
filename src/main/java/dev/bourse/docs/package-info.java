/**
 * The public documents: the contracts as JSON, the guides, the reference made from the contracts,
 * one search over both, and index texts for programs ({@code /llms.txt}, {@code /AGENTS.md}, {@code
 * /skills/bourse/SKILL.md}).
 *
 * <p>A page is rendered on first use, on a worker thread, and then kept: about 6 MB for all pages.
 * Guides are Markdown in {@code resources/guides}; commonmark-java renders them without further
 * dependencies, in the style of {@code resources/pages}. The one script is the search box, and
 * pages read the same without it.
 *
 * <p>Rejected: a documentation viewer from a library, which brought 1.5 MB of script, a look of its
 * own, and a policy that had to allow inline styles; and a site generator at build time, because
 * pages show the current address and budget.
 */
@NullMarked
package dev.bourse.docs;

import org.jspecify.annotations.NullMarked;
