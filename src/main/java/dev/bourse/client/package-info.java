/**
 * {@code bourse login}, {@code logout} and {@code checkpoint}: what members do from a command line.
 *
 * <p>Signing in is OAuth's device flow ({@link dev.bourse.client.DeviceLogin}); what comes of it is
 * kept in a file of the person's own ({@link dev.bourse.client.CredentialFile}) and renewed under a
 * lock, for a refresh token is good once and two commands may run at a time.
 *
 * <p>What they send and fetch is moved by {@link dev.bourse.client.transfer}.
 *
 * <p>Rejected: a client generated from the contract (it has no transfers).
 */
@NullMarked
package dev.bourse.client;

import org.jspecify.annotations.NullMarked;
