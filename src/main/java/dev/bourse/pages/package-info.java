/**
 * The pages people see in a browser: pages rendered from the templates in {@code resources/pages},
 * their one style sheet and icon, the console's scripts, and the security headers.
 *
 * <p>The server renders whole pages for signing in, granting access to an application and reading.
 * Those with forms have no script at all, so that the content security policy can forbid every
 * script, and they work on a phone, with a keyboard and with a screen reader as plain HTML does.
 * Templates are compiled once and escape all their values.
 *
 * <p>The console shows changing state, so scripts make its pages: the modules in {@code
 * resources/console}, over the public API. {@link dev.bourse.pages.AssetFiles} is a build step that
 * writes them compressed under an address that contains a digest of all, and refuses a module that
 * imports a missing one. {@code JoinedScript} joins the modules that every page needs and Lit into
 * one script, because 16 files cost 16 requests and compress worse; a page's own modules stay
 * separate. {@link dev.bourse.pages.Assets} serves these files.
 *
 * <p>Pebble was chosen because its templates inherit (one layout) and escape by default; Lit
 * because its templates update in place, never turn text into markup, and need no build. Rejected:
 * text blocks in Java, where one forgotten escape is a hole; a third-party bundler, which would be
 * a second build tool and rewrite all modules.
 */
@NullMarked
package dev.bourse.pages;

import org.jspecify.annotations.NullMarked;
