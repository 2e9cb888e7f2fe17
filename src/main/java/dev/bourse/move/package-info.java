/**
 * Moving all stored files from one store of bytes to another while the service runs.
 *
 * <p>The service reads both stores, the new one first ({@link dev.bourse.blob.TwoStores}). So a
 * blob is switched over by the one commit of the new store that publishes it there, and nothing
 * that refers to it changes. {@link dev.bourse.move.Move} copies blob after blob as an upload of
 * the new store, which outlives the process and is gone on with; its digest is compared before it
 * is published. The former store's copy is deleted only after that, and after the same delay as
 * bytes that were replaced.
 *
 * <p>Each process walks through all blobs in its own memory and asks both stores what is where, for
 * where one of them is a local disk only one process has it. A claim keeps two from copying the
 * same blob; should both do so all the same, they write the same bytes under the same key.
 *
 * <p>What is lost or changed in the former store is told and left there, and holds nothing up.
 *
 * <p>Rejected: a command that copies by itself, because the running service has the database; a
 * column that names the store of each item, which every reader would have to look up and of which
 * the former release knows nothing.
 */
@NullMarked
package dev.bourse.move;

import org.jspecify.annotations.NullMarked;
