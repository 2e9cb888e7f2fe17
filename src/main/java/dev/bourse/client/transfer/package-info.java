/**
 * Transfers bytes between a member's disk and the service.
 *
 * <p>Transfers ({@link dev.bourse.client.transfer.FileUpload}, {@link
 * dev.bourse.client.transfer.FileDownload}) can be resumed after any interruption. Their state is
 * on disk before it is needed, so Ctrl-C needs no handling and {@code kill -9} loses nothing: the
 * service knows how many bytes it has, the user's folder contains the session's address and the
 * digest of the sent bytes, and a partial download has its own length. The digest of the whole file
 * is checked at the end.
 *
 * <p>Rejected: one request for all bytes of a large file (nothing could be said about it before its
 * end).
 */
@NullMarked
package dev.bourse.client.transfer;

import org.jspecify.annotations.NullMarked;
