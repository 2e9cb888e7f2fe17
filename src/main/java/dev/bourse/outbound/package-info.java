/**
 * Guards requests to addresses that users enter (server-side request forgery). {@link
 * dev.bourse.outbound.PublicHosts} resolves a host once, requires all its addresses to be public,
 * and returns the very address that was checked for the connection. So nobody can make the service
 * read from, or write to, a host that only this machine can reach.
 */
@NullMarked
package dev.bourse.outbound;

import org.jspecify.annotations.NullMarked;
