/**
 * Secrets that all processes of a store share, kept in the store itself: the signing keys of
 * members' tokens, queued mail, the tokens created from a world file. They are encrypted with a
 * secret key that is not in the store ({@code secret.key}), so that a backup, an export or a reader
 * of the database reveals none of them.
 *
 * <p>{@link dev.bourse.keyring.Keyring} encrypts with AES-256-GCM of the JDK under a random nonce.
 * The associated data names the table and the row, so that a ciphertext moved to another row is
 * rejected there. {@link dev.bourse.keyring.SharedSecrets} are the rows.
 *
 * <p>Each row names its key by a digest of it. To rotate a key without downtime, all processes
 * first get the new key behind the old one, then before it, which re-encrypts the rows, then alone.
 * A process without the key of a row does not start, and names the missing key.
 *
 * <p>Rejected: a key derived from a pass phrase (a weak one could be guessed from any backup), and
 * a key for each row encrypted by the secret key (there are some ten rows; re-encrypting them costs
 * nothing).
 */
@NullMarked
package dev.bourse.keyring;

import org.jspecify.annotations.NullMarked;
