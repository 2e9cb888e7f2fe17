/**
 * Connects to granted nodes: {@code bourse ssh}, {@code ssh-config}, {@code run} and {@code cp}.
 *
 * <p>The machine's own OpenSSH does the work; its settings for a cluster's nodes (addresses, user,
 * port, host keys) are written to files in the user's folder ({@link
 * dev.bourse.client.ssh.SshFiles}), from the cluster's capacity and the host keys that the service
 * pins. So no connection asks whether a key is trusted, and no key is trusted on first use.
 *
 * <p>Rejected: an ssh client in the jar (agents, jump hosts and security keys are configured in
 * OpenSSH already).
 */
@NullMarked
package dev.bourse.client.ssh;

import org.jspecify.annotations.NullMarked;
