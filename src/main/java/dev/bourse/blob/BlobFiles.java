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
 * The folders of a local store and the operations on whole files in them. Every call blocks.
 *
 * <p>Files are {@code uploads/5c/<upload>} and {@code blobs/e1/<key>}. The folder in the middle is
 * the first byte of the name's SHA-256, so a million files make folders of 4,000, and a page of a
 * list reads one of them.
 */
final class BlobFiles {
  private static final Logger log = LoggerFactory.getLogger(BlobFiles.class);

  private static final int FOLDERS = 256;

  /** Only the service's own user may read tenants' bytes. */
  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_FOLDER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

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

  /** Held while a blob's age is read and the blob is deleted, and while its age changes. */
  private final Object ages = new Object();

  /** Creates missing folders. */
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

  /**
   * Returns an id that is unique to this folder and stays when the folder is moved; created on
   * first use.
   */
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

  /** Returns the path of a blob within a local store's folder. */
  static Path blob(Path root, String key) {
    return folder(root, Area.BLOBS, folderOf(key)).resolve(key);
  }

  Path path(Area area, String name) {
    return folder(area, folderOf(name)).resolve(name);
  }

  /** Opens an upload's file for reading and writing, and creates it if it is missing. */
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
      throw new BlobNotFoundException("there is no blob " + key);
    } catch (IOException e) {
      throw failure("cannot open blob " + path, e);
    }
  }

  /** Returns the file's length, or -1 if there is no such file. */
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

  /**
   * Deletes a blob that was published before a time. Returns true if the blob is absent afterwards.
   */
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

  /** Restarts a blob's age at {@code now}. Returns false if there is no such blob. */
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
   * Turns an upload into a blob. Each step is idempotent, so a call after a crash completes the
   * rest.
   */
  void publish(String uploadId, String key, Instant now) {
    Path upload = path(Area.UPLOADS, uploadId);
    Path blob = path(Area.BLOBS, key);
    try {
      if (renew(blob, now)) {
        // A crash came after the rename. A file system that lost only the removal of the old name
        // shows both names.
        Files.deleteIfExists(upload);
      } else {
        moveUnlessMoved(upload, blob, key, now);
      }
      // Always, because an earlier call may have crashed before this step.
      flushFolder(blob.resolveSibling(""));
      flushFolder(root.resolve(Area.BLOBS.folder));
    } catch (NoSuchFileException e) {
      throw new BlobNotFoundException(
          "there is neither an upload " + uploadId + " nor a blob " + key);
    } catch (IOException e) {
      throw failure("cannot publish " + upload + " as " + blob, e);
    }
  }

  /**
   * Makes the upload durable and renames it to the blob. Another process may do the same; the
   * process that renames first has flushed before, so the other one finds the work complete.
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
   * Makes an upload's bytes durable and sets its time to the publication, from which a blob's age
   * counts. A failed flush is final: the operating system has dropped the pages it could not write
   * and would report the next flush as a success.
   */
  private static void flush(Path upload, Instant now) throws IOException {
    try (FileChannel channel = FileChannel.open(upload, StandardOpenOption.WRITE)) {
      Files.setLastModifiedTime(upload, FileTime.from(now));
      try {
        channel.force(true);
      } catch (IOException e) {
        Files.deleteIfExists(upload);
        throw new StorageFaultException(
            "upload " + upload + " is lost: its bytes cannot be flushed", e);
      }
    }
  }

  private static void flushFolder(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /**
   * Rejects bytes that would use the reserved disk space.
   *
   * @throws StorageFullException if they would
   */
  void checkRoom(int bytes) throws IOException {
    long usable = disk.getUsableSpace();
    if (usable - bytes < reserveBytes) {
      throw new StorageFullException(
          usable + " bytes free under " + root + ", and " + reserveBytes + " are reserved", null);
    }
  }

  /**
   * Maps an I/O error to the port's exceptions. Java reports the cause only in the system's
   * message, so this also checks the free space. An exceeded quota or file size limit is visible
   * only in the message.
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
        ? new StorageFullException(what + ": no space left", e)
        : new StorageFaultException(what + ": " + words, e);
  }

  /** Returns a page of names last written before a time, ordered by folder and then by name. */
  Page<String> list(Area area, Instant before, String after, int limit) {
    List<String> found = new ArrayList<>();
    int first = after.isEmpty() ? 0 : folderOf(after);
    for (int i = first; i < FOLDERS && found.size() <= limit; i++) {
      found.addAll(
          names(folder(area, i), before, i == first ? after : "", limit + 1 - found.size()));
    }
    return Page.of(found, limit);
  }

  /**
   * Returns the first {@code most} names of a folder after a name, in order. Only those are held in
   * memory.
   */
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

  /** Closes a file whose content is no longer needed, and logs a failure. */
  static void closeQuietly(FileChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      log.warn("closing a file failed", e);
    }
  }
}
