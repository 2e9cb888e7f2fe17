package dev.bourse.backup;

import dev.bourse.core.Digests;
import dev.bourse.core.PrivateFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Operations on whole files; every call blocks. */
final class FileBytes {
  private static final int BUFFER_BYTES = 1 << 18;

  private FileBytes() {}

  /** Returns the SHA-256 of a file, in hex. */
  static String digest(Path file) throws IOException {
    try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
      return pass(in, null);
    }
  }

  /**
   * Copies a file to a new one, durable and readable by its owner only; returns the SHA-256 of its
   * bytes.
   */
  static String copy(Path from, Path to) throws IOException {
    try (FileChannel in = FileChannel.open(from, StandardOpenOption.READ);
        FileChannel out =
            PrivateFile.open(to, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE))) {
      String digest = pass(in, out);
      out.force(true);
      return digest;
    } catch (FileSystemException named) {
      throw named;
    } catch (IOException e) {
      // For example a full disk, whose message from the system has no file name.
      throw new IOException(from + " cannot be copied to " + to + ": " + e.getMessage(), e);
    }
  }

  private static String pass(FileChannel in, @Nullable FileChannel out) throws IOException {
    MessageDigest digest = Digests.newSha256();
    ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    while (in.read(buffer.clear()) >= 0) {
      digest.update(buffer.flip());
      buffer.rewind();
      while (out != null && buffer.hasRemaining()) {
        out.write(buffer);
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  /** Flushes a folder, so that the names in it are durable. */
  static void flushFolder(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Returns a file's permissions in the form of {@code ls}: {@code rw-------}. */
  static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  static void setMode(Path file, String mode) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  /**
   * Checks the free space before the disk is full.
   *
   * @throws IOException with the required and the free space
   */
  static void checkRoom(Path folder, long bytes) throws IOException {
    FileStore disk = Files.getFileStore(folder);
    if (disk.getUsableSpace() < bytes) {
      throw new IOException(
          "%s has no room: %d bytes are needed, and %d are free"
              .formatted(folder, bytes, disk.getUsableSpace()));
    }
  }
}
