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

/** Reads a backup: into a data folder, or only to prove it whole. */
public final class Restore {
  /**
   * In the store's place until all is there. The engine refuses it, so a service started on a
   * folder that is half filled begins no new store there.
   */
  private static final byte[] UNFINISHED =
      "A restore was begun here and did not end. Delete this folder and restore again.\n"
          .getBytes(StandardCharsets.UTF_8);

  private final Embedded layout;
  private final BackupFolder source;
  private final Manifest manifest;

  private Restore(Embedded layout, BackupFolder source, Manifest manifest) {
    this.layout = layout;
    this.source = source;
    this.manifest = manifest;
  }

  /**
   * Opens a backup.
   *
   * @throws Unsound when its manifest is not as it was written
   * @throws IOException when it is none
   */
  public static Restore open(Embedded layout, Path folder) throws IOException {
    return new Restore(
        layout, new BackupFolder(folder, layout.checkpoints()), Manifest.read(folder));
  }

  /** Of what, in a sentence. */
  public String told() {
    return "taken at %s by version %s, schema %d; files: %d, bytes: %d"
        .formatted(
            manifest.takenAt(),
            manifest.program(),
            manifest.schema(),
            manifest.files().size(),
            manifest.bytes());
  }

  /** Blobs that its rows name and it has not, in a sentence each. */
  public List<String> listLacks() {
    return manifest.lacks().stream()
        .map(lack -> "blob %s was not backed up: %s".formatted(lack.key(), lack.why()))
        .toList();
  }

  /**
   * Reads every file.
   *
   * @throws Unsound naming the first that is not as it was
   */
  public void check() throws IOException {
    for (Manifest.Kept file : manifest.files()) {
      Path path = source.find(manifest, file.path());
      try {
        compare(path, file, FileBytes.digest(path));
      } catch (NoSuchFileException gone) {
        throw new Unsound(path + " is gone");
      }
    }
  }

  private static void compare(Path path, Manifest.Kept file, String digest) throws Unsound {
    if (!digest.equals(file.sha256())) {
      throw new Unsound(
          "%s is not what was written: its SHA-256 is %s, and was %s"
              .formatted(path, digest, file.sha256()));
    }
  }

  /**
   * Proves that the rows are whole, and that each blob they name is there; after {@link #check}.
   *
   * @return what was read and is sound, in a sentence each
   * @throws Unsound naming the first thing that is not
   */
  public List<String> prove() throws IOException {
    return new RowProof(layout, source.find(manifest, layout.rows())).of(known());
  }

  /** The keys of blobs that are here, or are known not to be. */
  private Set<String> known() {
    Set<String> known = new HashSet<>();
    manifest.files().forEach(file -> known.add(String.valueOf(Path.of(file.path()).getFileName())));
    manifest.lacks().forEach(lack -> known.add(lack.key()));
    return known;
  }

  /**
   * Fills a data folder, each file compared with what was written.
   *
   * @param data no folder yet, or an empty one
   * @throws Unsound naming the first file that is not as it was; no service starts on what is there
   */
  public void fill(Path data) throws IOException {
    if (Files.exists(data) && !BackupFolder.isEmpty(data)) {
      throw new IOException(data + " is not empty; restore into a folder that is, or is not there");
    }
    PrivateFile.createFolders(data);
    FileBytes.checkRoom(data, manifest.bytes());
    Path rows = data.resolve(layout.rows());
    PrivateFile.write(rows, UNFINISHED);
    Set<Path> folders = new HashSet<>(Set.of(data));
    Path part = data.resolve(layout.rows() + ".part");
    for (Manifest.Kept file : manifest.files()) {
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

  private static void copy(Path from, Manifest.Kept file, Path to) throws IOException {
    try {
      compare(from, file, FileBytes.copy(from, to));
    } catch (NoSuchFileException gone) {
      throw new Unsound(from + " is gone");
    }
    FileBytes.setMode(to, file.mode());
  }
}
