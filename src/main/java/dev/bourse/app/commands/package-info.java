/**
 * The command line of the process: {@code serve}, and the operators' commands on a store that is
 * not served. The commands of members and of operators, which call a running service, are in {@code
 * client} and {@code admin}.
 *
 * <p>Under systemd {@code serve} reports itself that it is ready, alive, and stopping, by short
 * processes of {@code systemd-notify}. Rejected: Netty's native transport, a library for each kind
 * of machine for three notifications; a unit that polls {@code /readyz}, which would have to know
 * the settings, and notices neither a stop nor a suspended JVM; and a listening socket passed by
 * systemd, which Netty's sockets cannot take.
 */
@NullMarked
package dev.bourse.app.commands;

import org.jspecify.annotations.NullMarked;
