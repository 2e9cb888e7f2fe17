/**
 * Checkpoints, the files members publish: announced, sent, reviewed when they are for everybody,
 * and served.
 *
 * <p>{@link dev.bourse.checkpoint.Checkpoint} is the pure model; a {@link
 * dev.bourse.checkpoint.Move} is one change of it with all that follows, which {@link
 * dev.bourse.checkpoint.CheckpointStore} commits at once. {@link
 * dev.bourse.checkpoint.DirectUploadService} and {@link dev.bourse.checkpoint.UploadSessionService}
 * take bytes in, always in the same order: inspected, durable under a key no other bytes ever have,
 * then the one commit that makes them readable, {@link dev.bourse.checkpoint.Landing}. What a crash
 * leaves between these, {@link dev.bourse.checkpoint.Sweep} deletes.
 *
 * <p>Every byte that is uploaded goes through {@link dev.bourse.secrets.SecretScan}, and a file
 * that holds a credential is not kept.
 */
@NullMarked
package dev.bourse.checkpoint;

import org.jspecify.annotations.NullMarked;
