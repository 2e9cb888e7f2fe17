/**
 * The bytes of announced checkpoints on their way in, by one request or by a session of many.
 *
 * <p>{@link dev.bourse.uploads.DirectUploadService} and {@link
 * dev.bourse.uploads.UploadSessionService} always work in the same order: the bytes are inspected,
 * then made durable under a key that no other bytes ever have, and then published by one commit,
 * {@link dev.bourse.checkpoint.Publication}.
 */
@NullMarked
package dev.bourse.uploads;

import org.jspecify.annotations.NullMarked;
