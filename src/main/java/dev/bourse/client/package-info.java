/**
 * {@code bourse login}, {@code logout} and {@code checkpoint}: what members do from a command line.
 *
 * <p>Signing in is OAuth's device flow ({@link dev.bourse.client.DeviceLogin}); what comes of it is
 * kept in a file of the person's own ({@link dev.bourse.client.CredentialFile}) and renewed under a
 * lock, for a refresh token is good once and two commands may run at a time.
 *
 * <p>Transfers ({@link dev.bourse.client.FileUpload}, {@link dev.bourse.client.FileDownload}) go on
 * where they stood, whatever ended them. What they need for that is on disk before it is needed, so
 * there is nothing to do at Ctrl-C and nothing lost by {@code kill -9}: the service knows how many
 * bytes it has, the folder of credentials knows the session's address and the digest of what was
 * sent, and a file half fetched knows its own length. The digest of the whole file closes either
 * way.
 *
 * <p>Rejected: a client generated from the contract (it has no transfers), and one request for all
 * bytes of a large file (nothing could be said about it before its end).
 */
@NullMarked
package dev.bourse.client;

import org.jspecify.annotations.NullMarked;
