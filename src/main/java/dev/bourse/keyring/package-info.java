/**
 * Secrets that all processes of a store share, kept in the store itself: what signs members'
 * tokens, mail that waits, the tokens a world file made. They are encrypted with a secret key that
 * is not in the store ({@code secret.key}), so that a backup, an export or a reader of the database
 * has nothing without it.
 *
 * <p>{@link dev.bourse.keyring.Keyring} encrypts with AES-256-GCM of the JDK under a random nonce.
 * The associated data names the table and the row, so that a ciphertext that is moved to another
 * row is not accepted there. {@link dev.bourse.keyring.SharedSecrets} are the rows.
 *
 * <p>Each row names its key by a digest of it. A key is replaced while processes run: all are given
 * the new one after the old one, then before it, which encrypts the rows anew, then alone. A
 * process that is not given the key of a row does not start, and says which key that is.
 *
 * <p>Rejected: a key derived from a pass phrase (a weak one could be guessed from any backup), and
 * a key for each row encrypted by the secret key (there are some ten rows; encrypting them anew
 * costs nothing).
 */
@NullMarked
package dev.bourse.keyring;

import org.jspecify.annotations.NullMarked;
