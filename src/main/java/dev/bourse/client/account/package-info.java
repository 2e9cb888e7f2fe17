/**
 * {@code bourse login} and {@code logout}, and whose sign-in a command uses.
 *
 * <p>Signing in is OAuth's code flow with the browser of the same machine ({@link
 * dev.bourse.client.account.BrowserLogin}), or where there is none its device flow ({@link
 * dev.bourse.client.account.DeviceLogin}); what comes of it is kept in a file of the person's own
 * ({@link dev.bourse.client.account.CredentialFile}), by the service's address or by a name given
 * to it ({@link dev.bourse.client.account.Profile}), and renewed under a lock, for a refresh token
 * is good once and two commands may run at a time. Beside it lie the names that commands saw, which
 * a shell offers ({@link dev.bourse.client.account.KnownNames}).
 */
@NullMarked
package dev.bourse.client.account;

import org.jspecify.annotations.NullMarked;
