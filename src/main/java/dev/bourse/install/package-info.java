/**
 * Serves the command line for installation: the jar that the service itself runs from, a script
 * that installs it, and their digests.
 *
 * <p>The jar is opened when the service starts and stays open, so that the served bytes are of the
 * server's own version even after an upgrade has replaced the file. Its digest is computed when it
 * is first needed, which takes some tenths of a second on a worker thread.
 *
 * <p>Rejected: a separate, smaller jar for the command line, because a second artifact would have
 * to be built, stored and kept at the server's version; and the Debian package, which installs the
 * server's unit and which a running service does not have at hand.
 */
@NullMarked
package dev.bourse.install;

import org.jspecify.annotations.NullMarked;
