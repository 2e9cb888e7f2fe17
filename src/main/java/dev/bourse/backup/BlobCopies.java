package dev.bourse.backup;

import dev.bourse.blob.LocalBlobs;
import dev.bourse.core.PrivateFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Adds blobs to a backup, as hard links if the file system supports them, otherwise as copies. A
 * name always stands for the same bytes, so existing files are not read again.
 */
final class BlobCopies {
  private final Path source;
  private final Path target;
  private final Map<String, Manifest.FileEntry> kept = new HashMap<>();
  private final Set<Path> changed = new HashSet<>();

  /** Blobs whose bytes do not have the digest in their name. */
  private final Set<String> damaged = new HashSet<>();

  private boolean canLink = true;
  private long added;
  private long addedBytes;

  /**
   * @param source the folder of blobs in the data folder
   * @param target the folder of blobs in the backup
   */
  BlobCopies(Path source, Path target) {
    this.source = source;
    this.target = target;
  }

  /** Adds the blobs that the backup does not have yet. */
  void add(List<BlobRow> blobs) throws IOException {
    for (BlobRow blob : blobs) {
      if (blob.store().isEmpty() && !kept.containsKey(blob.key())) {
        add(blob);
      }
    }
  }

  /** Keeps the files of earlier backups, even if the data folder has lost them since. */
  private void add(BlobRow blob) throws IOException {
    Path to = LocalBlobs.fileOf(target, blob.key());
    if (!Files.exists(to) && !place(blob, LocalBlobs.fileOf(source, blob.key()), to)) {
      return;
    }
    String path = target.resolveSibling("").relativize(to).toString();
    kept.put(
        blob.key(),
        new Manifest.FileEntry(path, Files.size(to), blob.sha256(), FileBytes.mode(to)));
  }

  /**
   * Returns false if the file does not exist, or copying it shows a wrong digest; linked files are
   * not read.
   */
  private boolean place(BlobRow blob, Path from, Path to) throws IOException {
    Path folder = to.resolveSibling("");
    Path part = to.resolveSibling(to.getFileName() + ".part");
    PrivateFile.createFolders(folder);
    Files.deleteIfExists(part);
    try {
      if (!link(from, part)) {
        FileBytes.checkRoom(target, Files.size(from));
        if (!FileBytes.copy(from, part).equals(blob.sha256())) {
          Files.delete(part);
          damaged.add(blob.key());
          return false;
        }
      }
    } catch (NoSuchFileException gone) {
      // The rows, read later, show whether the blob is required.
      return false;
    }
    Files.move(part, to, StandardCopyOption.ATOMIC_MOVE);
    changed.add(folder);
    added++;
    addedBytes += Files.size(to);
    return true;
  }

  /** Returns false on another file system, on one without links, and for another user's files. */
  private boolean link(Path from, Path to) throws NoSuchFileException {
    if (canLink) {
      try {
        Files.createLink(to, from);
      } catch (NoSuchFileException gone) {
        throw gone;
      } catch (IOException | UnsupportedOperationException refused) {
        canLink = false;
      }
    }
    return canLink;
  }

  /** Flushes the changed folders. */
  void flush() throws IOException {
    for (Path folder : changed) {
      FileBytes.flushFolder(folder);
    }
    if (!changed.isEmpty()) {
      FileBytes.flushFolder(target.resolve("blobs"));
      FileBytes.flushFolder(target);
    }
  }

  /** Returns the entries of the given blobs that the backup has. */
  List<Manifest.FileEntry> listKept(List<BlobRow> blobs) {
    return blobs.stream()
        .filter(blob -> kept.containsKey(blob.key()))
        .map(blob -> kept.get(blob.key()))
        .toList();
  }

  /**
   * Returns the given blobs that the backup lacks.
   *
   * @param now the blobs that the service's rows name now
   */
  List<Manifest.MissingBlob> listLacks(List<BlobRow> blobs, Set<String> now) {
    List<Manifest.MissingBlob> lacks = new ArrayList<>();
    for (BlobRow blob : blobs) {
      String key = blob.key();
      if (!blob.store().isEmpty() || kept.containsKey(key)) {
        continue;
      }
      if (damaged.contains(key)) {
        lacks.add(
            new Manifest.MissingBlob(key, "its bytes differ from those that were published", true));
      } else if (blob.isPublished() && now.contains(key)) {
        lacks.add(new Manifest.MissingBlob(key, "it is not in the data folder", true));
      } else if (blob.isPublished()) {
        lacks.add(
            new Manifest.MissingBlob(key, "it was deleted while the backup was taken", false));
      }
    }
    return lacks;
  }

  long added() {
    return added;
  }

  long addedBytes() {
    return addedBytes;
  }

  /** Returns true if the added files share their bytes with the data folder. */
  boolean areLinks() {
    return canLink;
  }
}
