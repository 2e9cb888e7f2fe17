/**
 * The command line of the process: {@code serve}, and what operators do to a store while it is not
 * served. The commands of members and of operators, which call a running service, are in {@code
 * client} and {@code admin}.
 *
 * <p>Under systemd {@code serve} says itself when it is ready, that it lives and that it stops, by
 * short processes of {@code systemd-notify}. Rejected: Netty's native transport, a library for each
 * kind of machine to send three words; a unit that polls {@code /readyz}, which would have to know
 * the settings, and sees neither a stop nor a JVM that stands still; and a listening socket handed
 * over by systemd, which Netty's sockets cannot take.
 */
@NullMarked
package dev.bourse.app.commands;

import org.jspecify.annotations.NullMarked;
