/**
 * Commands that are built from the contracts, as the service's routes are: what {@code bourse
 * admin} and the members' commands share.
 *
 * <p>A {@link dev.bourse.command.RemoteOperation} is an operation as a command sees it: path
 * parameters are arguments, query parameters and body fields are options, descriptions are the help
 * texts. {@link dev.bourse.command.OperationCommand} reads them, calls and prints; whose token goes
 * along is the {@link dev.bourse.command.Caller}'s business. So an operation added to a contract is
 * a command at once, and neither can drift from the other.
 *
 * <p>Rejected: a class for each command (a hundred of them that say what the contract says), and a
 * generated client checked in (a build step for the same drift).
 */
@NullMarked
package dev.bourse.command;

import org.jspecify.annotations.NullMarked;
