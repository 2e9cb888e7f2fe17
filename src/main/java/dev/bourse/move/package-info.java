/**
 * Moves all stored files from one blob store to another while the service runs.
 *
 * <p>The service reads both stores, the new one first ({@link dev.bourse.blob.FallbackBlobStore}).
 * So a blob switches over with the one commit that publishes it in the new store, and no reference
 * to it changes. {@link dev.bourse.move.BlobMover} copies blob after blob through an upload of the
 * new store, which survives the process and is continued; its digest is compared before it is
 * published. The former store's copy is deleted only after that, with the same delay as replaced
 * bytes.
 *
 * <p>Each process walks through all blobs with a {@link dev.bourse.walk.BlobWalker} and a position
 * in memory, and asks both stores where a blob is, because a local disk is visible to one process
 * only. If two processes copy the same blob in spite of the claim, they write the same bytes under
 * the same key.
 *
 * <p>A process cannot tell a blob on another process's disk from a lost one. So its walk ends the
 * move only if each blob that is not in the new store has a recorded fault; otherwise it walks
 * again after a pause. The scrub decides that a blob is on no disk, after each process has looked
 * for it ({@link dev.bourse.move.MoveStore#isLost}).
 *
 * <p>Blobs that are lost or damaged in the former store are reported and left there; the move
 * continues.
 *
 * <p>Rejected: a command that copies by itself, because the running service holds the database; a
 * column with the store of each item, because every reader would have to query it and the former
 * release does not know it.
 */
@NullMarked
package dev.bourse.move;

import org.jspecify.annotations.NullMarked;
