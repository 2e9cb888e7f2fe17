package dev.bourse.core;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Files and folders of the data folder, which their owner alone may read whatever the umask says:
 * everything there is somebody's secret or leads to one.
 */
public final class PrivateFile {
  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
  private static final Set<PosixFilePermission> FOLDER =
      PosixFilePermissions.fromString("rwx------");

  private PrivateFile() {}

  /**
   * Puts the bytes in the file's place, durable, whole or not at all; its owner alone can read it.
   * The folder must be there. Blocks.
   */
  public static void write(Path file, byte[] content) throws IOException {
    Path next = file.resolveSibling(file.getFileName() + ".new");
    Files.deleteIfExists(next);
    try (FileChannel channel =
        open(next, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE))) {
      ByteBuffer bytes = ByteBuffer.wrap(content);
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Opens a file; if that creates it, for its owner alone. */
  public static FileChannel open(Path file, Set<StandardOpenOption> options) throws IOException {
    return FileChannel.open(file, options, attributes(file, FILE));
  }

  /** Sees to it that the file is there; what is there stays as it is. */
  public static void create(Path file) throws IOException {
    try {
      Files.createFile(file, attributes(file, FILE));
    } catch (FileAlreadyExistsException there) {
      // As it should be.
    }
  }

  /** Creates the folder, and those above it that are not there; what is there stays as it is. */
  public static void createFolders(Path folder) throws IOException {
    Files.createDirectories(folder, attributes(folder, FOLDER));
  }

  /** None on file systems that know no owners. */
  private static FileAttribute<?>[] attributes(Path path, Set<PosixFilePermission> permissions) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(permissions)}
        : new FileAttribute<?>[0];
  }
}
