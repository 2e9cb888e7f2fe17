/**
 * The service as a command line calls it; shared by {@code bourse admin} and the members' commands.
 *
 * <p>{@link dev.bourse.remote.Service} is the HTTP client of both. Failures are {@link
 * dev.bourse.remote.RefusedException}, which carries the exit code and whether a retry may help. A
 * {@link dev.bourse.remote.Credential} supplies the token. {@link dev.bourse.remote.Table} formats
 * answers.
 */
@NullMarked
package dev.bourse.remote;

import org.jspecify.annotations.NullMarked;
