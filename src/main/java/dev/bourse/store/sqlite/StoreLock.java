package dev.bourse.store.sqlite;

import dev.bourse.core.PrivateFile;
import dev.bourse.store.StoreInUse;
import dev.bourse.store.StoreRefused;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The right to be the one process that opens a store, held as an operating-system lock on a file
 * beside it; it ends with the process, however that ends.
 */
final class StoreLock implements AutoCloseable {
  /**
   * What this process holds. On POSIX systems closing any channel of a file gives up the process's
   * locks on it, so a second attempt must be turned away before it opens one.
   */
  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  private final Path path;
  private final FileChannel channel;

  private StoreLock(Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
  }

  /**
   * Takes the lock, and leaves this process's id in the file for whoever is refused.
   *
   * @throws StoreInUse when the store is already open, saying by which process
   */
  static StoreLock take(Path store) throws IOException {
    Path folder = store.toAbsolutePath().getParent();
    if (folder == null) {
      throw new StoreRefused("the store " + store + " has no folder to be in", null);
    }
    PrivateFile.createFolders(folder);
    Path path = folder.toRealPath().resolve(store.getFileName() + ".lock");
    if (!HELD.add(path)) {
      throw new StoreInUse("the store " + store + " is already open in this process");
    }
    FileChannel channel = null;
    try {
      channel =
          PrivateFile.open(
              path,
              Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE));
      if (channel.tryLock() == null) {
        throw new StoreInUse(
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
