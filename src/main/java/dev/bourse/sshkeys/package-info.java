/**
 * The registry of ssh keys: an organization's keys, which are installed on a node when it is
 * granted.
 *
 * <p>{@link dev.bourse.sshkeys.SshPublicKey} parses a pasted key, {@link
 * dev.bourse.sshkeys.SshKeyStore} stores it, and {@link dev.bourse.sshkeys.SshKeyService} keeps all
 * live keys in memory, so that a grant needs no query. {@link dev.bourse.sshkeys.SshKeyPolicy}
 * decides who may write keys.
 */
@NullMarked
package dev.bourse.sshkeys;

import org.jspecify.annotations.NullMarked;
