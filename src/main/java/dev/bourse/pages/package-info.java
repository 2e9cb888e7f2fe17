/**
 * What people see in a browser: pages rendered from the templates in {@code resources/pages}, their
 * one style sheet and icon, and the headers that keep them safe.
 *
 * <p>The server renders whole pages. Those that take forms have no script at all, so that the
 * content security policy can forbid every script, and a page works on a phone, with a keyboard and
 * with a screen reader as plain HTML does; the documentation's only script is its search box.
 * Templates are compiled once and escape all they are given.
 *
 * <p>Pebble, because its templates inherit (one layout) and escape by default. Rejected: text
 * blocks in Java, where one forgotten escape is a hole; and a framework of scripts, which these few
 * forms do not need.
 */
@NullMarked
package dev.bourse.pages;

import org.jspecify.annotations.NullMarked;
