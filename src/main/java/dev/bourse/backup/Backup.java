package dev.bourse.backup;

import dev.bourse.core.PrivateFile;
import dev.bourse.store.sqlite.SqliteCopy;
import dev.bourse.store.transfer.WholeStore;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Takes backups of a data folder, whether it is being served or not. */
public final class Backup {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss.SSS'Z'").withZone(ZoneOffset.UTC);

  private final DataFolderLayout layout;
  private final Path data;
  private final BackupFolder target;
  private final String program;
  private final Clock clock;

  /**
   * @param folder the backup's folder
   * @param program the version of this program
   */
  public Backup(DataFolderLayout layout, Path data, Path folder, String program, Clock clock) {
    this.layout = layout;
    this.data = data;
    this.target = new BackupFolder(folder, layout.checkpoints());
    this.program = program;
    this.clock = clock;
  }

  /**
   * The result of a complete backup.
   *
   * @param added blobs that the folder did not have, with their bytes
   * @param areLinks whether those share their bytes with the data folder
   * @param inObjects files in an object store, which are not in the backup
   * @param lacks blobs that are not in the backup, one sentence each
   * @param faults the part of {@code lacks} that the data folder itself has lost
   */
  public record Taken(
      int schema,
      long files,
      long bytes,
      long added,
      long addedBytes,
      boolean areLinks,
      long inObjects,
      List<String> lacks,
      List<String> faults) {}

  /**
   * Takes a backup.
   *
   * @throws IOException saying why it failed; an earlier backup in the folder stays valid
   */
  public Taken take() throws IOException {
    Path store = data.resolve(layout.rows());
    if (!Files.exists(store)) {
      throw new IOException(
          """
          there is no store %s; set the data folder with --data or, if PostgreSQL has the \
          rows, give the settings of the service with --config or --set\
          """
              .formatted(store));
    }
    if (!target.isOurs()) {
      throw new IOException(target.folder() + " is neither empty nor an earlier backup");
    }
    PrivateFile.createFolders(target.folder());
    Path lock = target.folder().resolve("backup.lock");
    try (FileChannel channel =
            PrivateFile.open(lock, Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE));
        FileLock held = lockOf(channel)) {
      if (held == null) {
        throw new IOException(target.folder() + " is in use by another backup");
      }
      PrivateFile.create(target.folder().resolve(Manifest.UNFINISHED));
      return takeAlone(store);
    }
  }

  private static @Nullable FileLock lockOf(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException ofThisProcess) {
      return null;
    }
  }

  private Taken takeAlone(Path store) throws IOException {
    BlobCopies blobs =
        new BlobCopies(
            data.resolve(layout.checkpoints()), target.folder().resolve(layout.checkpoints()));
    blobs.add(named(store));
    Instant now = clock.instant();
    Path run = target.folder().resolve(BackupFolder.takenName(TIME.format(now)));
    if (Files.exists(run)) {
      throw new IOException(run + " exists already because the clock was set back; try again");
    }
    PrivateFile.createFolders(run);
    boolean isNamed = false;
    try {
      Path rows = run.resolve(layout.rows());
      FileBytes.checkRoom(run, Files.size(store));
      SqliteCopy.write(store, rows);
      List<Manifest.FileEntry> files = new ArrayList<>();
      files.add(
          new Manifest.FileEntry(
              layout.rows(), Files.size(rows), FileBytes.digest(rows), FileBytes.mode(store)));
      copyKeys(run, files);
      List<BlobRow> wanted = named(rows);
      blobs.add(wanted);
      blobs.flush();
      files.addAll(blobs.listKept(wanted));
      Manifest manifest =
          new Manifest(
              program,
              version(rows),
              now,
              String.valueOf(run.getFileName()),
              files,
              blobs.listLacks(wanted, keys(named(store))));
      isNamed = true;
      manifest.write(target.folder());
      target.deleteObsolete(manifest);
      return taken(manifest, blobs, wanted);
    } finally {
      if (!isNamed) {
        BackupFolder.delete(run);
      }
    }
  }

  private List<BlobRow> named(Path store) throws IOException {
    try (WholeStore rows = layout.look(store)) {
      return BlobRow.listOf(rows);
    }
  }

  private int version(Path store) throws IOException {
    try (WholeStore rows = layout.look(store)) {
      return DataFolderLayout.version(rows);
    }
  }

  private static Set<String> keys(List<BlobRow> blobs) {
    return blobs.stream().map(BlobRow::key).collect(Collectors.toSet());
  }

  /**
   * Copies keys and the id of the blob folder. This comes after the rows, because keys are written
   * before rows that need them.
   */
  private void copyKeys(Path run, List<Manifest.FileEntry> files) throws IOException {
    for (Path file : keys()) {
      Path path = data.relativize(file);
      Path copy = run.resolve(path);
      PrivateFile.createFolders(copy.resolveSibling(""));
      String digest = FileBytes.copy(file, copy);
      String mode = FileBytes.mode(file);
      FileBytes.setMode(copy, mode);
      FileBytes.flushFolder(copy.resolveSibling(""));
      files.add(new Manifest.FileEntry(path.toString(), Files.size(copy), digest, mode));
    }
  }

  /**
   * Returns the key files and key folders of the data folder, and the id of the blob folder. Files
   * that publish tokens are excluded, because backups are kept longer and in more places than a
   * data folder.
   */
  private List<Path> keys() throws IOException {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(data)) {
      for (Path one : all) {
        if (Files.isDirectory(one)) {
          add(one, "*.pem", found);
        }
      }
    }
    add(data, "*.pem", found);
    Path id = data.resolve(layout.checkpoints()).resolve("id");
    if (Files.exists(id)) {
      found.add(id);
    }
    return found;
  }

  private static void add(Path folder, String names, List<Path> found) throws IOException {
    try (DirectoryStream<Path> all = Files.newDirectoryStream(folder, names)) {
      all.forEach(found::add);
    }
  }

  private static Taken taken(Manifest manifest, BlobCopies blobs, List<BlobRow> wanted) {
    return new Taken(
        manifest.schema(),
        manifest.files().size(),
        manifest.bytes(),
        blobs.added(),
        blobs.addedBytes(),
        blobs.areLinks(),
        wanted.stream().filter(blob -> !blob.store().isEmpty()).count(),
        manifest.lacks().stream().map(Backup::describe).toList(),
        manifest.lacks().stream()
            .filter(Manifest.MissingBlob::isFault)
            .map(Backup::describe)
            .toList());
  }

  private static String describe(Manifest.MissingBlob lack) {
    return "blob %s is not in the backup: %s".formatted(lack.key(), lack.why());
  }
}
