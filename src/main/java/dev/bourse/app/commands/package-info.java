/**
 * The command line of the process: {@code serve}, and what operators do to a store while it is not
 * served. The commands of members and of operators, which call a running service, are in {@code
 * client} and {@code admin}.
 */
@NullMarked
package dev.bourse.app.commands;

import org.jspecify.annotations.NullMarked;
