/**
 * The scrub: a slow check that all stored bytes exist with the right length and digest, so that a
 * lost or damaged file is noticed before it is needed.
 *
 * <p>All processes of a store share the work. {@link dev.bourse.scrub.Scrub} visits blobs with a
 * {@link dev.bourse.walk.BlobWalker}; the commit that claims a blob also advances the common mark.
 * So no blob is skipped when a process dies, and none is counted twice when a frozen process
 * resumes.
 *
 * <p>{@link dev.bourse.scrub.ReadThrottle} limits the reading to a share of all stored bytes a day.
 * The next blob is due when the time of the previous one is over, and a backlog after a pause is
 * not caught up. A blob larger than a day's share is read at once, and the following days are
 * quiet.
 *
 * <p>Where the processes of a database keep blobs in folders of their own, a blob that one of them
 * does not find is left to the others, and is lost when none has it: {@link
 * dev.bourse.scrub.FolderRegistry} knows the folders and which of them were searched. So a process
 * without the file does not clear a fault that its owner found, and a requested check is done by
 * the process that has the blob.
 *
 * <p>Rejected: storing with each blob which disk it is on, a write at every publication for a
 * set-up that is discouraged; dividing the blobs among processes by their number, which changes, or
 * by the hour, which needs equal clocks; asking the store for its own digests, which describe the
 * bytes it received and not those it can still return; repairing, because there is no second copy.
 */
@NullMarked
package dev.bourse.scrub;

import org.jspecify.annotations.NullMarked;
