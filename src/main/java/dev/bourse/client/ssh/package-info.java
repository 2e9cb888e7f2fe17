/**
 * Reaching granted nodes from a command line: {@code bourse ssh}, {@code ssh-config}, {@code run}
 * and {@code cp}.
 *
 * <p>The machine's own OpenSSH does the work; what it has to know of a cluster's nodes (addresses,
 * user, port, host keys) is written into files of the person's own folder ({@link
 * dev.bourse.client.ssh.SshFiles}), from the cluster's capacity and the host keys that the service
 * pins. So no connection asks whether a key is trusted, and none trusts a key because it came
 * first.
 *
 * <p>Rejected: an ssh client in the jar (agents, jump hosts and security keys are configured in
 * OpenSSH already).
 */
@NullMarked
package dev.bourse.client.ssh;

import org.jspecify.annotations.NullMarked;
