/**
 * The registry of ssh keys: an organization's keys, installed on nodes at the grant and never
 * touched on held ones.
 *
 * <p>{@link dev.bourse.sshkeys.SshPublicKey} reads a key as it is pasted, {@link
 * dev.bourse.sshkeys.SshKeyStore} stores it, and {@link dev.bourse.sshkeys.SshKeyService} keeps all
 * live keys in memory, so that a grant asks nobody for them. {@link
 * dev.bourse.sshkeys.SshKeyPolicy} says who may write keys.
 */
@NullMarked
package dev.bourse.sshkeys;

import org.jspecify.annotations.NullMarked;
