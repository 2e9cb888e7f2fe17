package dev.bourse.blob;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.bourse.core.Digests;
import dev.bourse.core.Page;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folders of a local store and what is done to whole files in them; every call blocks.
 *
 * <p>{@code uploads/5c/<upload>} and {@code blobs/e1/<key>}: the folder between is the first byte
 * of the name's SHA-256, so that a million files make folders of 4,000 and a page of a list reads
 * one of them.
 */
final class BlobFiles {
  private static final Logger log = LoggerFactory.getLogger(BlobFiles.class);

  private static final int FOLDERS = 256;

  /** Nobody but the service's own user reads tenants' bytes. */
  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_FOLDER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /** The two kinds of files. */
  enum Area {
    UPLOADS("uploads"),
    BLOBS("blobs");

    private final String folder;

    Area(String folder) {
      this.folder = folder;
    }
  }

  private final Path root;
  private final FileStore disk;
  private final long reserveBytes;

  /** Held while a blob's age is looked at and it is deleted, and while its age changes. */
  private final Object ages = new Object();

  /** Creates the folders that are not there. */
  BlobFiles(Path root, long reserveBytes) throws IOException {
    this.root = root.toAbsolutePath();
    this.reserveBytes = reserveBytes;
    Files.createDirectories(this.root, PRIVATE_FOLDER);
    for (Area area : Area.values()) {
      Files.createDirectories(this.root.resolve(area.folder), PRIVATE_FOLDER);
    }
    flushFolder(this.root);
    disk = Files.getFileStore(this.root);
  }

  /** What no other folder has, and this keeps wherever it is moved; made when it is first asked. */
  String id() {
    Path file = root.resolve("id");
    try {
      if (!Files.exists(file)) {
        Path part = root.resolve("id.part");
        try (FileChannel channel =
            FileChannel.open(
                part,
                Set.of(
                    StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING,
                    StandardOpenOption.WRITE,
                    StandardOpenOption.DSYNC),
                PRIVATE_FILE)) {
          channel.write(ByteBuffer.wrap(UUID.randomUUID().toString().getBytes(US_ASCII)));
        }
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
      }
      return Files.readString(file, US_ASCII);
    } catch (IOException e) {
      throw failure("cannot read or write " + file, e);
    }
  }

  private static int folderOf(String name) {
    return Digests.sha256(name.getBytes(US_ASCII))[0] & 255;
  }

  private Path folder(Area area, int folder) {
    return folder(root, area, folder);
  }

  private static Path folder(Path root, Area area, int folder) {
    return root.resolve(area.folder).resolve(HexFormat.of().toHexDigits((byte) folder));
  }

  /** Where a blob is in the folder of a local store. */
  static Path blob(Path root, String key) {
    return folder(root, Area.BLOBS, folderOf(key)).resolve(key);
  }

  Path path(Area area, String name) {
    return folder(area, folderOf(name)).resolve(name);
  }

  /** An upload's file, open for reading and writing, created when there is none. */
  FileChannel openUpload(String uploadId) {
    Path path = path(Area.UPLOADS, uploadId);
    try {
      Files.createDirectories(path.resolveSibling(""), PRIVATE_FOLDER);
      return FileChannel.open(
          path,
          Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE),
          PRIVATE_FILE);
    } catch (IOException e) {
      throw failure("cannot open upload " + path, e);
    }
  }

  FileChannel openBlob(String key) {
    Path path = path(Area.BLOBS, key);
    try {
      return FileChannel.open(path, StandardOpenOption.READ);
    } catch (NoSuchFileException e) {
      throw new BlobGone("there is no blob " + key);
    } catch (IOException e) {
      throw failure("cannot open blob " + path, e);
    }
  }

  /** The file's length, or -1 when there is none. */
  long length(Area area, String name) {
    Path path = path(area, name);
    try {
      return Files.size(path);
    } catch (NoSuchFileException e) {
      return -1;
    } catch (IOException e) {
      throw failure("cannot look at " + path, e);
    }
  }

  void deleteUpload(String uploadId) {
    Path path = path(Area.UPLOADS, uploadId);
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      throw failure("cannot delete " + path, e);
    }
  }

  /** Deletes a blob published before some time; returns whether there is none any more. */
  boolean deleteBlob(String key, Instant before) {
    Path path = path(Area.BLOBS, key);
    try {
      synchronized (ages) {
        if (!before.equals(BlobStore.EVER) && !writtenBefore(path, before)) {
          return !Files.exists(path);
        }
        Files.deleteIfExists(path);
        return true;
      }
    } catch (IOException e) {
      throw failure("cannot delete " + path, e);
    }
  }

  /** Has a blob's age begin now; returns whether there is one. */
  private boolean renew(Path blob, Instant now) throws IOException {
    synchronized (ages) {
      try {
        Files.setLastModifiedTime(blob, FileTime.from(now));
        return true;
      } catch (NoSuchFileException e) {
        return false;
      }
    }
  }

  /**
   * Turns an upload into a blob. Each step can be repeated, so a call after a crash at any of them
   * does the rest.
   */
  void publish(String uploadId, String key, Instant now) {
    Path upload = path(Area.UPLOADS, uploadId);
    Path blob = path(Area.BLOBS, key);
    try {
      if (renew(blob, now)) {
        // The crash came after the rename. A file system that lost only the removal of the old
        // name in it shows both.
        Files.deleteIfExists(upload);
      } else {
        moveUnlessMoved(upload, blob, key, now);
      }
      // In any case, since an earlier call may have been cut short before this.
      flushFolder(blob.resolveSibling(""));
      flushFolder(root.resolve(Area.BLOBS.folder));
    } catch (NoSuchFileException e) {
      throw new BlobGone("there is neither an upload " + uploadId + " nor a blob " + key);
    } catch (IOException e) {
      throw failure("cannot publish " + upload + " as " + blob, e);
    }
  }

  /**
   * Makes the upload durable and the blob. Another process may be doing the same; whichever renames
   * first has flushed before, so the other finds everything done.
   */
  private void moveUnlessMoved(Path upload, Path blob, String key, Instant now) throws IOException {
    try {
      flush(upload, now);
      Files.createDirectories(blob.resolveSibling(""), PRIVATE_FOLDER);
      Files.move(upload, blob, StandardCopyOption.ATOMIC_MOVE);
    } catch (NoSuchFileException e) {
      if (length(Area.BLOBS, key) < 0) {
        throw e;
      }
    }
  }

  /**
   * Makes an upload's bytes durable, and its time that of its publication, since the age of a blob
   * counts from then. A failed flush is final: the system has dropped the pages it could not write
   * and would call the next flush a success.
   */
  private static void flush(Path upload, Instant now) throws IOException {
    try (FileChannel channel = FileChannel.open(upload, StandardOpenOption.WRITE)) {
      Files.setLastModifiedTime(upload, FileTime.from(now));
      try {
        channel.force(true);
      } catch (IOException e) {
        Files.deleteIfExists(upload);
        throw new StorageFault("upload " + upload + " is lost: its bytes cannot be flushed", e);
      }
    }
  }

  private static void flushFolder(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /**
   * Refuses bytes that would eat into the reserve.
   *
   * @throws StorageFull when they would
   */
  void checkRoom(int bytes) throws IOException {
    long usable = disk.getUsableSpace();
    if (usable - bytes < reserveBytes) {
      throw new StorageFull(
          usable + " bytes are free under " + root + ", of which " + reserveBytes + " stay free",
          null);
    }
  }

  /**
   * What an I/O error means. Java tells it only in the system's words, so the room on the disk is
   * checked too; a quota or a limit on files shows in the words only.
   */
  RuntimeException failure(String what, IOException e) {
    String words = String.valueOf(e.getMessage());
    boolean full =
        words.contains("No space left")
            || words.contains("quota exceeded")
            || words.contains("File too large");
    if (!full) {
      try {
        full = disk.getUsableSpace() < BlobStore.MAX_BLOCK_BYTES;
      } catch (IOException again) {
        e.addSuppressed(again);
      }
    }
    return full
        ? new StorageFull(what + ": there is no room", e)
        : new StorageFault(what + ": " + words, e);
  }

  /** A page of names last written before some time, by folder and then by name. */
  Page<String> list(Area area, Instant before, String after, int limit) {
    List<String> found = new ArrayList<>();
    int first = after.isEmpty() ? 0 : folderOf(after);
    for (int i = first; i < FOLDERS && found.size() <= limit; i++) {
      found.addAll(
          names(folder(area, i), before, i == first ? after : "", limit + 1 - found.size()));
    }
    return Page.of(found, limit);
  }

  /** The first so many names of a folder behind one, in order; no more than those are held. */
  private List<String> names(Path folder, Instant before, String after, int most) {
    PriorityQueue<String> kept = new PriorityQueue<>(Comparator.reverseOrder());
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      for (Path entry : entries) {
        String name = String.valueOf(entry.getFileName());
        if (name.compareTo(after) > 0
            && BlobStore.isName(name)
            && !(kept.size() == most && name.compareTo(kept.element()) > 0)
            && writtenBefore(entry, before)) {
          kept.add(name);
          if (kept.size() > most) {
            kept.remove();
          }
        }
      }
    } catch (NoSuchFileException e) {
      return List.of();
    } catch (DirectoryIteratorException e) {
      throw failure("cannot list " + folder, new IOException(e.getMessage(), e));
    } catch (IOException e) {
      throw failure("cannot list " + folder, e);
    }
    List<String> names = new ArrayList<>(kept);
    names.sort(Comparator.naturalOrder());
    return names;
  }

  private static boolean writtenBefore(Path file, Instant before) throws IOException {
    try {
      return Files.getLastModifiedTime(file).toInstant().isBefore(before);
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  /** Closes a file on which nothing depends any more. */
  static void closeQuietly(FileChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      log.warn("a file did not close cleanly", e);
    }
  }
}
