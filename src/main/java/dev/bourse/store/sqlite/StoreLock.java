package dev.bourse.store.sqlite;

import dev.bourse.core.PrivateFile;
import dev.bourse.store.StoreInUseException;
import dev.bourse.store.StoreRefusedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The exclusive right of one process to open a store: an operating-system lock on a file beside it,
 * which ends with the process.
 */
final class StoreLock implements AutoCloseable {
  /**
   * The locks of this process. On POSIX systems, closing any channel of a file releases the
   * process's locks on it, so a second attempt must be rejected before it opens one.
   */
  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  private final Path path;
  private final FileChannel channel;

  private StoreLock(Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
  }

  /**
   * Acquires the lock, and writes this process's id into the file for the message to rejected
   * processes.
   *
   * @throws StoreInUseException if the store is already open; the message names the process
   */
  static StoreLock take(Path store) throws IOException {
    Path folder = store.toAbsolutePath().getParent();
    if (folder == null) {
      throw new StoreRefusedException(
          "the path of the store " + store + " has no parent folder", null);
    }
    PrivateFile.createFolders(folder);
    Path path = folder.toRealPath().resolve(store.getFileName() + ".lock");
    if (!HELD.add(path)) {
      throw new StoreInUseException("the store " + store + " is already open in this process");
    }
    FileChannel channel = null;
    try {
      channel =
          PrivateFile.open(
              path,
              Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE));
      if (channel.tryLock() == null) {
        throw new StoreInUseException(
            "the store " + store + " is in use by process " + holder(channel) + " (" + path + ")");
      }
      channel.truncate(0);
      channel.write(
          ByteBuffer.wrap(
              Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.US_ASCII)));
      return new StoreLock(path, channel);
    } catch (IOException | RuntimeException e) {
      if (channel != null) {
        channel.close();
      }
      HELD.remove(path);
      throw e;
    }
  }

  private static String holder(FileChannel channel) throws IOException {
    ByteBuffer pid = ByteBuffer.allocate(20);
    channel.read(pid, 0);
    return new String(pid.array(), 0, pid.position(), StandardCharsets.US_ASCII);
  }

  @Override
  public void close() throws IOException {
    channel.close();
    HELD.remove(path);
  }
}
