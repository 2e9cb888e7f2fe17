/**
 * Storage for the bytes of checkpoints: the {@link dev.bourse.blob.BlobStore} port and its
 * implementation on a local disk, {@link dev.bourse.blob.LocalBlobs}. The implementation in an
 * object store is {@code dev.bourse.blob.s3}.
 *
 * <p>Bytes arrive as an upload, block by block, and become readable together when the upload is
 * published under a key. Each block goes to a worker thread once, where the caller's {@link
 * dev.bourse.blob.Inspector} sees it before it is written; rejected bytes never reach the disk.
 * Stored bytes of an upload survive the process. When the upload is opened again, the inspector
 * sees all of them in the background before the upload is published. Memory is the same for 1 MiB
 * and for 50 GiB: a few blocks for each open upload, and the number of open uploads is bounded.
 *
 * <p>The port also fits an object store, where an upload is a multipart upload: opening, appending
 * and abandoning have their counterparts, and publishing completes the upload under its key. So the
 * port never renames, overwrites or changes stored bytes, no call lists while a request waits, and
 * after a pause callers ask the store for the upload's size and do not assume it.
 *
 * <p>Rejected alternatives: Vert.x's {@code AsyncFile}, which hands each network buffer to a worker
 * separately and needs another pass for the digest; a file per block, which multiplies the flushes
 * and must be merged at the end; writing under the final name, where a crash leaves half a file
 * that looks complete; the digest as the key, which needs reference counts before any deletion;
 * bytes as rows of the database, whose writer and backups would carry them all.
 */
@NullMarked
package dev.bourse.blob;

import org.jspecify.annotations.NullMarked;
