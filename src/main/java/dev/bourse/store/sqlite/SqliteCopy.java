package dev.bourse.store.sqlite;

import dev.bourse.core.PrivateFile;
import dev.bourse.store.StoreRefused;
import dev.bourse.store.StoreUnavailable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.SQLException;

/**
 * A copy of a store as it is at one moment, while whoever serves it goes on.
 *
 * <p>{@code VACUUM INTO} reads in one transaction, as any reader does, so the writer never waits
 * for it; the log alone grows meanwhile, by what is committed. The engine's backup by steps was
 * rejected: it begins anew whenever another process has written, and so need not end.
 */
public final class SqliteCopy {
  private SqliteCopy() {}

  /**
   * Writes the copy, which has no log and is durable; for its owner alone.
   *
   * @param copy where nothing is yet
   * @throws StoreRefused when there is no store, or what a process left of it is damaged
   * @throws StoreUnavailable when it cannot be read now
   * @throws IOException when there is no room for the copy
   */
  public static void write(Path store, Path copy) throws IOException {
    checkLog(store);
    PrivateFile.create(copy);
    String target = copy.toAbsolutePath().toString().replace("'", "''");
    try (SqliteConnection connection = SqliteConnection.forReading(store)) {
      connection.execute("VACUUM INTO '" + target + "'");
    } catch (SQLException e) {
      if (SqliteConnection.isFull(e)) {
        throw new IOException(copy + " cannot be written: there is no room", e);
      }
      String message = "the store " + store + " cannot be copied: " + e.getMessage();
      throw SqliteConnection.isEnvironmental(e)
          ? new StoreUnavailable(message, e)
          : new StoreRefused(message, e);
    }
    try (FileChannel channel = FileChannel.open(copy, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }

  /** Of a store that is served the log was looked at when that began. */
  private static void checkLog(Path store) throws IOException {
    Path log = store.resolveSibling(store.getFileName() + "-wal");
    if (!Files.exists(log) || Files.size(log) == 0) {
      return;
    }
    StoreLock lock;
    try {
      lock = StoreLock.take(store);
    } catch (StoreRefused served) {
      return;
    }
    try (lock) {
      new WalGuard(store).check("");
    }
  }
}
