/**
 * Uploads of announced checkpoints: in one request, in a session of several requests, or file by
 * file of a set.
 *
 * <p>{@link dev.bourse.uploads.DirectUploadService}, {@link
 * dev.bourse.uploads.UploadSessionService} and {@link dev.bourse.uploads.SetUploadService} always
 * work in the same order: the bytes are inspected, then stored durably under a key that no other
 * bytes ever have, and then published by one commit, {@link dev.bourse.checkpoint.Publication}. The
 * last two share {@link dev.bourse.uploads.ResumableUploads} for uploads that take several
 * requests.
 */
@NullMarked
package dev.bourse.uploads;

import org.jspecify.annotations.NullMarked;
