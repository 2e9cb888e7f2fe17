/**
 * A service as a command line calls it: what {@code bourse admin} and the members' commands share.
 *
 * <p>{@link dev.bourse.remote.Service} is the one HTTP client of both; what it cannot do it says as
 * {@link dev.bourse.remote.Refused}, which tells the exit code and whether trying again may help.
 * Whose token goes along is a {@link dev.bourse.remote.Credential}'s business. {@link
 * dev.bourse.remote.Table} prints answers.
 */
@NullMarked
package dev.bourse.remote;

import org.jspecify.annotations.NullMarked;
