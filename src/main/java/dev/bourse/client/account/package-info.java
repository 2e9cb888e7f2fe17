/**
 * {@code bourse login} and {@code logout}, and the selection of a sign-in.
 *
 * <p>Signing in uses OAuth's code flow with the browser of the same machine ({@link
 * dev.bourse.client.account.BrowserLogin}), or without a browser its device flow ({@link
 * dev.bourse.client.account.DeviceLogin}). The result is stored in a private file ({@link
 * dev.bourse.client.account.CredentialFile}), under the service's address or a given name ({@link
 * dev.bourse.client.account.SignInProfile}), and renewed under a lock, because a refresh token can
 * be used once and two commands may run at a time. Beside it are the names that commands saw, for
 * shell completion ({@link dev.bourse.client.account.KnownNames}).
 */
@NullMarked
package dev.bourse.client.account;

import org.jspecify.annotations.NullMarked;
