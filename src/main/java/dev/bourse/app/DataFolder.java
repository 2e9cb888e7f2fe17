package dev.bourse.app;

import dev.bourse.core.PrivateFile;
import dev.bourse.status.StatusService;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Restricts the data folder's permissions to its owner, and reports wider ones. */
final class DataFolder {
  private static final Logger LOG = LoggerFactory.getLogger(DataFolder.class);

  private static final Set<PosixFilePermission> OF_OTHERS =
      EnumSet.complementOf(
          EnumSet.of(
              PosixFilePermission.OWNER_READ,
              PosixFilePermission.OWNER_WRITE,
              PosixFilePermission.OWNER_EXECUTE));

  /** The folder, its entries, and those of its folders; the bytes of files are deeper. */
  private static final int DEPTH = 2;

  /** The most entries of one folder that a start takes the time to check. */
  private static final int MOST_LOOKED_AT = 1_000;

  private static final int MOST_WARNINGS = 20;

  private DataFolder() {}

  /**
   * Creates the folder, if it is missing, for its owner alone. Existing entries that are open to
   * others are logged and left unchanged, because an operator may have had a reason. Blocks.
   */
  static void open(Path data) throws IOException {
    PrivateFile.createFolders(data);
    wider(data).forEach(LOG::warn);
  }

  /** The usage of its disk. Blocks. */
  static StatusService.Disk disk(Path data) throws IOException {
    FileStore disk = Files.getFileStore(data);
    return new StatusService.Disk(disk.getUsableSpace(), disk.getTotalSpace());
  }

  /** Entries open to others, each with the command that restricts it. */
  static List<String> wider(Path data) throws IOException {
    List<String> warnings = new ArrayList<>();
    if (data.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      look(data, DEPTH, warnings);
    }
    if (warnings.size() > MOST_WARNINGS) {
      warnings.subList(MOST_WARNINGS, warnings.size()).clear();
      warnings.add("and more below " + data);
    }
    return warnings;
  }

  private static void look(Path path, int depth, List<String> warnings) throws IOException {
    PosixFileAttributes attributes;
    try {
      attributes =
          Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
              .readAttributes();
    } catch (NoSuchFileException gone) {
      return;
    }
    if (attributes.isSymbolicLink()) {
      // Links are readable by everybody; their target is an operator's choice.
      return;
    }
    Set<PosixFilePermission> permissions = attributes.permissions();
    if (permissions.stream().anyMatch(OF_OTHERS::contains)) {
      warnings.add(
          "%s is open to others on this machine (%s): chmod %s %s"
              .formatted(
                  path,
                  PosixFilePermissions.toString(permissions),
                  attributes.isDirectory() ? "700" : "600",
                  path));
    }
    if (attributes.isDirectory() && depth > 0) {
      for (Path inside : children(path)) {
        if (warnings.size() <= MOST_WARNINGS) {
          look(inside, depth - 1, warnings);
        }
      }
    }
  }

  private static List<Path> children(Path folder) throws IOException {
    List<Path> children = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(folder)) {
      for (Path one : all) {
        if (children.size() == MOST_LOOKED_AT) {
          break;
        }
        children.add(one);
      }
    }
    children.sort(Comparator.naturalOrder());
    return children;
  }
}
