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

/** The data folder as others on the machine see it: not at all, unless an operator lets them. */
final class DataFolder {
  private static final Logger LOG = LoggerFactory.getLogger(DataFolder.class);

  private static final Set<PosixFilePermission> OF_OTHERS =
      EnumSet.complementOf(
          EnumSet.of(
              PosixFilePermission.OWNER_READ,
              PosixFilePermission.OWNER_WRITE,
              PosixFilePermission.OWNER_EXECUTE));

  /** The folder, what is in it, and what is in its folders; the bytes of files lie deeper. */
  private static final int DEPTH = 2;

  /** More entries of one folder than a start has time for. */
  private static final int MOST_LOOKED_AT = 1_000;

  private static final int MOST_TOLD = 20;

  private DataFolder() {}

  /**
   * Creates it when it is not there, for its owner alone. What is there and open to others is told
   * to the log and left as it is: whoever opened it may have had a reason. Blocks.
   */
  static void open(Path data) throws IOException {
    PrivateFile.createFolders(data);
    wider(data).forEach(LOG::warn);
  }

  /** How full its disk is. Blocks. */
  static StatusService.Disk disk(Path data) throws IOException {
    FileStore disk = Files.getFileStore(data);
    return new StatusService.Disk(disk.getUsableSpace(), disk.getTotalSpace());
  }

  /** What others may do something with, each with the command that ends it. */
  static List<String> wider(Path data) throws IOException {
    List<String> told = new ArrayList<>();
    if (data.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      look(data, DEPTH, told);
    }
    if (told.size() > MOST_TOLD) {
      told.subList(MOST_TOLD, told.size()).clear();
      told.add("and more below " + data);
    }
    return told;
  }

  private static void look(Path path, int depth, List<String> told) throws IOException {
    PosixFileAttributes attributes;
    try {
      attributes =
          Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
              .readAttributes();
    } catch (NoSuchFileException gone) {
      return;
    }
    if (attributes.isSymbolicLink()) {
      // Everybody may read a link; where it leads is an operator's choice.
      return;
    }
    Set<PosixFilePermission> permissions = attributes.permissions();
    if (permissions.stream().anyMatch(OF_OTHERS::contains)) {
      told.add(
          "%s is open to others on this machine (%s): chmod %s %s"
              .formatted(
                  path,
                  PosixFilePermissions.toString(permissions),
                  attributes.isDirectory() ? "700" : "600",
                  path));
    }
    if (attributes.isDirectory() && depth > 0) {
      for (Path inside : children(path)) {
        if (told.size() <= MOST_TOLD) {
          look(inside, depth - 1, told);
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
