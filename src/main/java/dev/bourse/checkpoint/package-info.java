/**
 * Checkpoints, the files that members publish: announced, uploaded, reviewed if they are public,
 * and served.
 *
 * <p>{@link dev.bourse.checkpoint.Checkpoint} is the pure model; a {@link
 * dev.bourse.checkpoint.ChangeSet} is one change of it with its consequences, which {@link
 * dev.bourse.checkpoint.CheckpointStore} commits at once. Bytes arrive through {@code
 * dev.bourse.uploads}, which inspects every one of them; {@link dev.bourse.checkpoint.Publication}
 * is the one commit that makes them readable. {@link dev.bourse.checkpoint.Sweep} deletes the data
 * that a crash leaves between these steps.
 *
 * <p>A set is an item whose content is a manifest that lists files by their digests. The manifest
 * is stored and served like any content; {@link dev.bourse.checkpoint.SetStore} records the blob of
 * each file and counts its references, because sets of an organization share identical files. A
 * file counts against storage once for each set that contains it, as if each were sent, so that an
 * organization's usage does not depend on which of its sets share files.
 */
@NullMarked
package dev.bourse.checkpoint;

import org.jspecify.annotations.NullMarked;
