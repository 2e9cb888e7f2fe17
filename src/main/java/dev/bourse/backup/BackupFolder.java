package dev.bourse.backup;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The layout of a backup's folder. */
record BackupFolder(Path folder, String checkpoints) {
  private static final String TAKEN = "taken-";

  /** Returns the folder of a run, named by its time. */
  static String takenName(String time) {
    return TAKEN + time;
  }

  /** Returns the backup's copy of a path in the data folder. */
  Path find(Manifest manifest, String path) throws IOException {
    Path root = isBlob(path) ? folder : folder.resolve(manifest.taken());
    Path file = root.resolve(path).normalize();
    if (!file.startsWith(folder.normalize())) {
      throw new CorruptBackupException(
          folder.resolve(Manifest.NAME) + " names a file outside the backup: " + path);
    }
    return file;
  }

  private boolean isBlob(String path) {
    return path.startsWith(checkpoints + "/blobs/");
  }

  /** Returns true if the folder is empty or contains a backup, complete or not. */
  boolean isOurs() throws IOException {
    if (Files.exists(folder.resolve(Manifest.NAME))
        || Files.exists(folder.resolve(Manifest.UNFINISHED))) {
      return true;
    }
    return !Files.exists(folder) || isEmpty(folder);
  }

  static boolean isEmpty(Path folder) throws IOException {
    try (DirectoryStream<Path> inside = Files.newDirectoryStream(folder)) {
      return !inside.iterator().hasNext();
    }
  }

  /** Deletes files that the manifest does not name: those of earlier and of incomplete backups. */
  void deleteObsolete(Manifest manifest) throws IOException {
    try (DirectoryStream<Path> runs = Files.newDirectoryStream(folder, TAKEN + "*")) {
      for (Path run : runs) {
        if (!run.endsWith(manifest.taken())) {
          delete(run);
        }
      }
    }
    Set<Path> named = new HashSet<>();
    for (Manifest.FileEntry file : manifest.files()) {
      named.add(find(manifest, file.path()));
    }
    Path blobs = folder.resolve(checkpoints);
    if (Files.exists(blobs)) {
      for (Path file : filesOf(blobs)) {
        if (!named.contains(file.normalize())) {
          Files.delete(file);
        }
      }
    }
    Files.deleteIfExists(folder.resolve(Manifest.UNFINISHED));
    FileBytes.flushFolder(folder);
  }

  private static List<Path> filesOf(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile).toList();
    }
  }

  /** Deletes a folder with its contents. */
  static void delete(Path folder) throws IOException {
    List<Path> inside = new ArrayList<>();
    try (Stream<Path> all = Files.walk(folder)) {
      all.forEach(inside::add);
    }
    inside.sort(Comparator.reverseOrder());
    for (Path path : inside) {
      Files.delete(path);
    }
  }
}
