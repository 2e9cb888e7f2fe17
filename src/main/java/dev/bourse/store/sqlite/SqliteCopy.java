package dev.bourse.store.sqlite;

import dev.bourse.core.PrivateFile;
import dev.bourse.store.StoreRefusedException;
import dev.bourse.store.StoreUnavailableException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.SQLException;

/**
 * Copies a store as of one moment while it is in service.
 *
 * <p>{@code VACUUM INTO} reads in one transaction, as any reader does, so the writer does not wait
 * for it; only the log grows during the copy. The engine's stepwise backup was rejected: it
 * restarts whenever another process has written, so it may never end.
 */
public final class SqliteCopy {
  private SqliteCopy() {}

  /**
   * Writes the copy, which has no log and is durable; only its owner can read it.
   *
   * @param copy a path where no file exists
   * @throws StoreRefusedException if there is no store, or a crashed process left it damaged
   * @throws StoreUnavailableException if the store cannot be read now
   * @throws IOException if there is no space for the copy
   */
  public static void write(Path store, Path copy) throws IOException {
    checkLog(store);
    PrivateFile.create(copy);
    String target = copy.toAbsolutePath().toString().replace("'", "''");
    try (SqliteConnection connection = SqliteConnection.forReading(store)) {
      connection.execute("VACUUM INTO '" + target + "'");
    } catch (SQLException e) {
      if (SqliteConnection.isFull(e)) {
        throw new IOException("cannot write " + copy + ": no space left", e);
      }
      String message = "cannot copy the store " + store + ": " + e.getMessage();
      throw SqliteConnection.isEnvironmental(e)
          ? new StoreUnavailableException(message, e)
          : new StoreRefusedException(message, e);
    }
    try (FileChannel channel = FileChannel.open(copy, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }

  /**
   * Checks the log, unless the store is in service; its process checked the log when it started.
   */
  private static void checkLog(Path store) throws IOException {
    Path log = store.resolveSibling(store.getFileName() + "-wal");
    if (!Files.exists(log) || Files.size(log) == 0) {
      return;
    }
    StoreLock lock;
    try {
      lock = StoreLock.take(store);
    } catch (StoreRefusedException served) {
      return;
    }
    try (lock) {
      new WalGuard(store).check("");
    }
  }
}
