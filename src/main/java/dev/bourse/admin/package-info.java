/**
 * {@code bourse admin}: the operators' interface from a command line.
 *
 * <p>Its commands are built from the operator contract, as the service's routes are: a tag is a
 * noun, the first word of an operationId a verb, path parameters are arguments, query parameters
 * and body fields are options, descriptions are the help texts. So an operation added to the
 * contract is a command at once, and neither can drift from the other. {@link
 * dev.bourse.admin.AdminCommand} builds, {@link dev.bourse.remote.Service} calls, {@link
 * dev.bourse.remote.Table} prints; verifying a trail, which takes many calls, is the one command of
 * its own ({@link dev.bourse.admin.VerifyCommand}).
 *
 * <p>Rejected: a class for each command (sixty of them that say what the contract says), and a
 * generated client checked in (a build step for the same drift).
 */
@NullMarked
package dev.bourse.admin;

import org.jspecify.annotations.NullMarked;
