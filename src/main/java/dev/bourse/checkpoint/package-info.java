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
 * <p>{@link dev.bourse.checkpoint.SecretScan} reads every byte that is uploaded and finds
 * credentials in it, in constant memory and whatever pieces the bytes arrive in. {@link
 * dev.bourse.checkpoint.Keywords} skips to the few places where a {@link
 * dev.bourse.checkpoint.SecretRule} may hold, the rule reads a bounded piece of {@link
 * dev.bourse.checkpoint.SecretText} there, and {@link dev.bourse.checkpoint.Randomness} tells
 * secrets from documentation.
 *
 * <p>Rejected: regular expressions for the rules. A linear-time engine needs some 140 ns for each
 * byte of its window, so that a file made of nothing but keywords would take a core a second for
 * each 7 MB; and what makes it cheap, walking the shape by hand before, leaves the expression
 * nothing to decide.
 */
@NullMarked
package dev.bourse.checkpoint;

import org.jspecify.annotations.NullMarked;
