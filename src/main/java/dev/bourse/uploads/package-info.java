/**
 * The bytes of announced checkpoints on their way in: by one request, by a session of many, or file
 * by file of a set.
 *
 * <p>{@link dev.bourse.uploads.DirectUploadService}, {@link
 * dev.bourse.uploads.UploadSessionService} and {@link dev.bourse.uploads.SetUploadService} always
 * work in the same order: the bytes are inspected, then made durable under a key that no other
 * bytes ever have, and then published by one commit, {@link dev.bourse.checkpoint.Publication}.
 * What takes several requests the last two leave to {@link dev.bourse.uploads.ResumableUploads}.
 */
@NullMarked
package dev.bourse.uploads;

import org.jspecify.annotations.NullMarked;
