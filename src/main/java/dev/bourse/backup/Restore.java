package dev.bourse.backup;

import dev.bourse.core.PrivateFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Reads a backup, to restore it into a data folder or to verify it. */
public final class Restore {
  /**
   * Placeholder for the store until the restore is complete. The engine rejects it, so a service
   * started on a partly restored folder does not create a new store there.
   */
  private static final byte[] UNFINISHED =
      "A restore was started here and not completed. Delete this folder and restore again.\n"
          .getBytes(StandardCharsets.UTF_8);

  private final DataFolderLayout layout;
  private final BackupFolder source;
  private final Manifest manifest;

  private Restore(DataFolderLayout layout, BackupFolder source, Manifest manifest) {
    this.layout = layout;
    this.source = source;
    this.manifest = manifest;
  }

  /**
   * Opens a backup.
   *
   * @throws CorruptBackupException if its manifest was changed
   * @throws IOException if the folder is not a backup
   */
  public static Restore open(DataFolderLayout layout, Path folder) throws IOException {
    return new Restore(
        layout, new BackupFolder(folder, layout.checkpoints()), Manifest.read(folder));
  }

  /** Describes the backup in a sentence. */
  public String summary() {
    return "taken at %s by version %s, schema %d; files: %d, bytes: %d"
        .formatted(
            manifest.takenAt(),
            manifest.program(),
            manifest.schema(),
            manifest.files().size(),
            manifest.bytes());
  }

  /** Describes the blobs that its rows name but that it lacks, one sentence each. */
  public List<String> listLacks() {
    return manifest.lacks().stream()
        .map(lack -> "blob %s was not backed up: %s".formatted(lack.key(), lack.why()))
        .toList();
  }

  /**
   * Reads every file.
   *
   * @throws CorruptBackupException naming the first damaged file
   */
  public void check() throws IOException {
    for (Manifest.FileEntry file : manifest.files()) {
      Path path = source.find(manifest, file.path());
      try {
        compare(path, file, FileBytes.digest(path));
      } catch (NoSuchFileException gone) {
        throw new CorruptBackupException(path + " is missing");
      }
    }
  }

  private static void compare(Path path, Manifest.FileEntry file, String digest)
      throws CorruptBackupException {
    if (!digest.equals(file.sha256())) {
      throw new CorruptBackupException(
          "%s was changed since it was written: its SHA-256 is %s, and was %s"
              .formatted(path, digest, file.sha256()));
    }
  }

  /**
   * Verifies the rows, and that each blob they name is in the backup; call it after {@link #check}.
   *
   * @return the verified parts, one sentence each
   * @throws CorruptBackupException naming the first fault
   */
  public List<String> prove() throws IOException {
    return new RowVerifier(layout, source.find(manifest, layout.rows())).of(known());
  }

  /** Returns the keys of blobs that are in the backup, or are known to be missing. */
  private Set<String> known() {
    Set<String> known = new HashSet<>();
    manifest.files().forEach(file -> known.add(String.valueOf(Path.of(file.path()).getFileName())));
    manifest.lacks().forEach(lack -> known.add(lack.key()));
    return known;
  }

  /**
   * Fills a data folder; each file is compared with its digest.
   *
   * @param data a folder that is empty or does not exist
   * @throws CorruptBackupException naming the first damaged file; no service starts on the folder
   *     then
   */
  public void fill(Path data) throws IOException {
    if (Files.exists(data) && !BackupFolder.isEmpty(data)) {
      throw new IOException(data + " is not empty; restore into an empty or new folder");
    }
    PrivateFile.createFolders(data);
    FileBytes.checkRoom(data, manifest.bytes());
    Path rows = data.resolve(layout.rows());
    PrivateFile.write(rows, UNFINISHED);
    Set<Path> folders = new HashSet<>(Set.of(data));
    Path part = data.resolve(layout.rows() + ".part");
    for (Manifest.FileEntry file : manifest.files()) {
      boolean isRows = file.path().equals(layout.rows());
      Path to = isRows ? part : data.resolve(file.path()).normalize();
      PrivateFile.createFolders(to.resolveSibling(""));
      copy(source.find(manifest, file.path()), file, to);
      folders.add(to.resolveSibling(""));
    }
    for (Path folder : folders) {
      FileBytes.flushFolder(folder);
    }
    Files.move(part, rows, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    FileBytes.flushFolder(data);
  }

  private static void copy(Path from, Manifest.FileEntry file, Path to) throws IOException {
    try {
      compare(from, file, FileBytes.copy(from, to));
    } catch (NoSuchFileException gone) {
      throw new CorruptBackupException(from + " is missing");
    }
    FileBytes.setMode(to, file.mode());
  }
}
