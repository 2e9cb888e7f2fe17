/**
 * What people see in a browser: pages rendered from the templates in {@code resources/pages}, their
 * one style sheet and icon, the console's scripts, and the headers that keep them safe.
 *
 * <p>The server renders whole pages wherever somebody signs in, allows an application or reads.
 * Those that take forms have no script at all, so that the content security policy can forbid every
 * script, and a page works on a phone, with a keyboard and with a screen reader as plain HTML does.
 * Templates are compiled once and escape all they are given.
 *
 * <p>The console shows state that moves, so scripts make its pages: the modules in {@code
 * resources/console}, over the interface that everybody uses. {@link dev.bourse.pages.AssetFiles}
 * is a step of the build; it lays them down as they are, compressed, with Lit's modules, under an
 * address that has a digest of all, and refuses a module that imports what is not there. {@link
 * dev.bourse.pages.Assets} serves what it laid down.
 *
 * <p>Pebble, because its templates inherit (one layout) and escape by default; Lit, because its
 * templates update in place, never make markup of text, and need no step of translation. Rejected:
 * text blocks in Java, where one forgotten escape is a hole; a bundler, which would take a second
 * kind of build to save requests that browsers make at once.
 */
@NullMarked
package dev.bourse.pages;

import org.jspecify.annotations.NullMarked;
