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
 *
 * <p>A set is an item whose content is a manifest that names files by their digests. The manifest
 * is stored and served like any content; {@link dev.bourse.checkpoint.SetStore} keeps which blob
 * each file has, and counts who refers to it, since sets of an organization share the files that
 * are the same. Files count against storage once for each set that holds them, as if each were
 * sent: what an organization is told it holds then does not depend on what others of it publish.
 */
@NullMarked
package dev.bourse.checkpoint;

import org.jspecify.annotations.NullMarked;
