/**
 * Where the bytes of checkpoints are kept: the {@link dev.bourse.blob.BlobStore} port and its
 * implementation on a local disk, {@link dev.bourse.blob.LocalBlobs}; the one in an object store is
 * {@code dev.bourse.blob.s3}.
 *
 * <p>Bytes come in as an upload, block by block, and become readable all at once when the upload is
 * published under a key. Each block goes to a worker thread once, where the caller's {@link
 * dev.bourse.blob.Inspector} sees it before it is written; what the inspector rejects never reaches
 * the disk. What an upload holds survives the process, and whoever opens it again has the inspector
 * see all of that, in the background and before it is published. Memory is the same for 1 MiB and
 * for 50 GiB: a few blocks for each open upload, and the number of those is bounded.
 *
 * <p>The port is made for an object store too. An upload is there a multipart upload: opening,
 * appending and abandoning it have their counterparts, and publishing completes it under its key.
 * So nothing in the port renames, overwrites or changes bytes once written, no call on the way of a
 * request lists, and what an upload still holds is asked, never assumed, after a pause.
 *
 * <p>Rejected: files of the event loop's own kind ({@code AsyncFile}), which hand each network
 * buffer to a worker by itself, and need another pass for the digest; a file for each block, which
 * multiplies the flushes and has to be copied together in the end; writing under the final name,
 * where a crash leaves half a file that looks whole; the digest as the key, which needs counts of
 * who refers to what before anything may be deleted; bytes as rows of the store, whose writer and
 * backups would carry them all.
 */
@NullMarked
package dev.bourse.blob;

import org.jspecify.annotations.NullMarked;
