/**
 * Backups of a data folder with an embedded store: taken while it is served, verified, and
 * restored.
 *
 * <p>A backup is a folder. {@code backup.json} is its manifest ({@link
 * dev.bourse.backup.Manifest}): every file with its length and digest. {@code taken-TIME/} has the
 * files that change, the rows and the keys; {@code checkpoints/} has published bytes, which never
 * change. The next backup into the same folder writes another {@code taken-TIME/}, adds new bytes,
 * replaces the manifest, and only then deletes files of the old one. So there is a complete backup
 * at every moment, the old one or the new one, and a folder without a manifest is not a backup,
 * even if it contains files.
 *
 * <p>Bytes are copied before the rows that name them, so that bytes deleted in between are in the
 * backup already; bytes published in between are copied afterwards. On one file system they are
 * hard links to the service's own files and take no space; for a copy on another disk, choose a
 * folder there.
 *
 * <p>Files that publish tokens are left out, because a backup is copied to more places than a data
 * folder and kept for longer.
 *
 * <p>Rejected: writing the whole backup under another name and renaming it, because a mount point
 * cannot be renamed; an archive of one file, which would contain all bytes each time; computing
 * digests of all bytes at each backup, which would read the whole disk: the names of blobs contain
 * them, and {@link dev.bourse.backup.Restore} checks them. Object stores and PostgreSQL have means
 * of their own.
 */
@NullMarked
package dev.bourse.backup;

import org.jspecify.annotations.NullMarked;
