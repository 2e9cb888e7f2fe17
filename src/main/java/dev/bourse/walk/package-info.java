/**
 * The walk through all stored blobs, which the scrub and the move share. {@link
 * dev.bourse.walk.BlobWalker} finds the next blob, claims it, and reads it at the pace of
 * background work. Its subclasses say where the walk is, and what a visit does: the scrub compares
 * digests, and the mover copies bytes.
 *
 * <p>A {@link dev.bourse.walk.BlobClaims.Claim} keeps two processes from visiting the same blob.
 * Its holder renews it; an expired claim is taken over, so no blob is skipped when a process dies.
 * The number of attempts identifies the holder among those of one row, so a frozen process that
 * resumes cannot settle the visit of the process that took its claim over. After that visit the row
 * is deleted, and a later claim on the same blob counts from 1 again: if the process is frozen for
 * that long, it can settle that visit with its own older result. Neither walk loses data by it. The
 * bytes of a key never change, the next round of a scrub replaces the result, and a move looks for
 * the blob in the new store before it records a fault.
 *
 * <p>The order is that of {@link dev.bourse.checkpoint.StoredBlobs}. The processes of a scrub share
 * one position in the database. Each process of a move has a position in memory, because a local
 * disk is visible to one process only.
 *
 * <p>Rejected: one table of claims for both walks, because processes of the previous release take
 * the same rows during a rolling upgrade; one position for a move, because each process must pass
 * every blob to find those on its disk.
 */
@NullMarked
package dev.bourse.walk;

import org.jspecify.annotations.NullMarked;
