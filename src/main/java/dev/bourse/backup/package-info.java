/**
 * Backups of a data folder whose store is the embedded one: taken while it is served, checked, and
 * restored.
 *
 * <p>A backup is a folder. {@code backup.json} is its manifest ({@link
 * dev.bourse.backup.Manifest}): every file with its length and digest. {@code taken-TIME/} has what
 * changes, the rows and the keys; {@code checkpoints/} has published bytes, which never do. The
 * next backup into the same folder writes another {@code taken-TIME/}, adds the bytes that are new,
 * puts its manifest in the other's place, and only then deletes what that named. So there is a
 * whole backup at every moment, the old one or the new one, and a folder without a manifest is
 * none, however much is in it.
 *
 * <p>Bytes come before the rows that name them, and what was published in between comes after: what
 * is deleted meanwhile is then there already. On one file system they are links to the service's
 * own files and take no room: whoever wants them on another disk names a folder there.
 *
 * <p>Files that tell tokens are left out, because a backup is copied to more places than a data
 * folder and kept for longer.
 *
 * <p>Rejected: the whole under another name that is renamed, for a folder that is a mount cannot
 * be; an archive of one file, which would carry all bytes each time; digests of all bytes at each
 * backup, which would read the whole disk: the names of blobs have them, and {@link
 * dev.bourse.backup.Restore} reads them. Object stores and PostgreSQL have means of their own.
 */
@NullMarked
package dev.bourse.backup;

import org.jspecify.annotations.NullMarked;
