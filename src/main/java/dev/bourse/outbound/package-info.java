/**
 * Requests to addresses that strangers name. {@link dev.bourse.outbound.PublicHosts} is the guard
 * they pass: a host is resolved once, all its addresses must be public, and the connection goes to
 * the very address that was checked, so that nobody has us fetch from, or write to, what only this
 * machine can reach.
 */
@NullMarked
package dev.bourse.outbound;

import org.jspecify.annotations.NullMarked;
