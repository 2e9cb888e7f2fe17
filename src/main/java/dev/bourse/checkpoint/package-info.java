/**
 * Checkpoints, the files members publish: announced, sent, reviewed when they are for everybody,
 * and served.
 *
 * <p>{@link dev.bourse.checkpoint.Checkpoint} is the pure model; a {@link
 * dev.bourse.checkpoint.ChangeSet} is one change of it with all that follows, which {@link
 * dev.bourse.checkpoint.CheckpointStore} commits at once. The bytes come in by {@code
 * dev.bourse.uploads}, which has every one of them inspected; {@link
 * dev.bourse.checkpoint.Publication} is the one commit that makes them readable. What a crash
 * leaves between these, {@link dev.bourse.checkpoint.Sweep} deletes.
 */
@NullMarked
package dev.bourse.checkpoint;

import org.jspecify.annotations.NullMarked;
