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
 * Brings blobs into a backup: by a link where the file system has it, else by a copy. A name stands
 * for the same bytes for ever, so what is there under it is not looked at again.
 */
final class BlobCopies {
  private final Path source;
  private final Path target;
  private final Map<String, Manifest.Kept> kept = new HashMap<>();
  private final Set<Path> changed = new HashSet<>();

  /** Blobs whose bytes are not those that their names tell. */
  private final Set<String> damaged = new HashSet<>();

  private boolean canLink = true;
  private long added;
  private long addedBytes;

  /**
   * @param source the folder of blobs in the data folder
   * @param target the one in the backup
   */
  BlobCopies(Path source, Path target) {
    this.source = source;
    this.target = target;
  }

  /** Brings those that are not here yet. */
  void bring(List<BlobRow> blobs) throws IOException {
    for (BlobRow blob : blobs) {
      if (blob.store().isEmpty() && !kept.containsKey(blob.key())) {
        bring(blob);
      }
    }
  }

  /** What an earlier backup has stays, also when the data folder has lost it since. */
  private void bring(BlobRow blob) throws IOException {
    Path to = LocalBlobs.fileOf(target, blob.key());
    if (!Files.exists(to) && !place(blob, LocalBlobs.fileOf(source, blob.key()), to)) {
      return;
    }
    String path = target.resolveSibling("").relativize(to).toString();
    kept.put(
        blob.key(), new Manifest.Kept(path, Files.size(to), blob.sha256(), FileBytes.mode(to)));
  }

  /** False when it is not there, or a copy shows that its bytes are others; links are not read. */
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
      // Whether it has to be there is known when the rows are.
      return false;
    }
    Files.move(part, to, StandardCopyOption.ATOMIC_MOVE);
    changed.add(folder);
    added++;
    addedBytes += Files.size(to);
    return true;
  }

  /** False on another file system, on one without links, and for another user's files. */
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

  /** Makes what was brought durable. */
  void flush() throws IOException {
    for (Path folder : changed) {
      FileBytes.flushFolder(folder);
    }
    if (!changed.isEmpty()) {
      FileBytes.flushFolder(target.resolve("blobs"));
      FileBytes.flushFolder(target);
    }
  }

  /** What is here of these. */
  List<Manifest.Kept> listKept(List<BlobRow> blobs) {
    return blobs.stream()
        .filter(blob -> kept.containsKey(blob.key()))
        .map(blob -> kept.get(blob.key()))
        .toList();
  }

  /**
   * What is not here of these.
   *
   * @param now what the service's rows name by now
   */
  List<Manifest.Lack> listLacks(List<BlobRow> blobs, Set<String> now) {
    List<Manifest.Lack> lacks = new ArrayList<>();
    for (BlobRow blob : blobs) {
      String key = blob.key();
      if (!blob.store().isEmpty() || kept.containsKey(key)) {
        continue;
      }
      if (damaged.contains(key)) {
        lacks.add(new Manifest.Lack(key, "its bytes are not those that were published", true));
      } else if (blob.isPublished() && now.contains(key)) {
        lacks.add(new Manifest.Lack(key, "it is not in the data folder", true));
      } else if (blob.isPublished()) {
        lacks.add(new Manifest.Lack(key, "it was deleted while the backup was taken", false));
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

  /** Whether what was added shares its bytes with the data folder. */
  boolean areLinks() {
    return canLink;
  }
}
