/**
 * Bytes on their way between a member's disk and the service.
 *
 * <p>Transfers ({@link dev.bourse.client.transfer.FileUpload}, {@link
 * dev.bourse.client.transfer.FileDownload}) go on where they stood, whatever ended them. What they
 * need for that is on disk before it is needed, so there is nothing to do at Ctrl-C and nothing
 * lost by {@code kill -9}: the service knows how many bytes it has, the person's folder knows the
 * session's address and the digest of what was sent, and a file half fetched knows its own length.
 * The digest of the whole file closes either way.
 *
 * <p>Rejected: one request for all bytes of a large file (nothing could be said about it before its
 * end).
 */
@NullMarked
package dev.bourse.client.transfer;

import org.jspecify.annotations.NullMarked;
