/**
 * Commands that are built from the contracts, like the service's routes: the shared part of {@code
 * bourse admin} and the members' commands.
 *
 * <p>A {@link dev.bourse.command.RemoteOperation} is an operation as a command sees it: path
 * parameters are arguments, query parameters and body fields are options, descriptions are the help
 * texts. {@link dev.bourse.command.OperationCommand} reads them, calls and prints; the {@link
 * dev.bourse.command.CommandContext} supplies the token. So an operation added to a contract is a
 * command at once, and neither can drift from the other.
 *
 * <p>An operation that destroys, spends or locks out says so in the contract ({@link
 * dev.bourse.command.LossText}); its command names the losses and asks with {@link
 * dev.bourse.command.ConfirmPrompt}, as all commands do that ask.
 *
 * <p>Rejected: a class for each command (a hundred of them that repeat the contract), and a
 * generated client checked in (a build step for the same drift).
 */
@NullMarked
package dev.bourse.command;

import org.jspecify.annotations.NullMarked;
