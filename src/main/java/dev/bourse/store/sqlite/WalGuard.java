package dev.bourse.store.sqlite;

import dev.bourse.core.PrivateFile;
import dev.bourse.store.StoreRefusedException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the write-ahead log that the last process left, before SQLite does. SQLite ends the log at
 * the first unsound frame and silently drops the commits after it.
 */
final class WalGuard {
  private static final Logger LOG = LoggerFactory.getLogger(WalGuard.class);

  private final Path store;
  private final Path wal;

  /**
   * @param store a store that this process has locked and not opened
   */
  WalGuard(Path store) {
    this.store = store;
    this.wal = store.resolveSibling(store.getFileName() + "-wal");
  }

  /** Returns the scan of the log; null if there is none or it is empty. */
  @Nullable WalScan scan() throws IOException {
    return Files.exists(wal) ? WalScan.read(wal) : null;
  }

  /**
   * Checks whether SQLite may open the store.
   *
   * @param acceptedDamage the name of a damage that the operator accepts: the commits after it are
   *     discarded, and the log is copied aside first
   * @throws StoreRefusedException if commits would be lost without the operator's consent
   */
  void check(String acceptedDamage) throws IOException {
    WalScan found = scan();
    if (found == null) {
      return;
    }
    if (found.frames() > 0 && (!Files.exists(store) || Files.size(store) == 0)) {
      throw StoreRefusedException.of(
          """
          there is a log %s of %s transactions but no store %s for it; restore the store, or move \
          the log away to start with an empty one\
          """,
          wal, found.commits(), store);
    }
    if (found.isTailTorn()) {
      LOG.warn(
          """
          the last transaction in {} is incomplete from frame {} on, as after a power failure; it \
          was not acknowledged unless the disk lost flushed data\
          """,
          wal,
          found.badFrame());
    }
    if (!found.isDamaged()) {
      return;
    }
    if (!acceptedDamage.equals(found.name())) {
      throw new StoreRefusedException(describe(found), null);
    }
    giveUp(found);
  }

  /** Describes a damage to an operator. */
  String describe(WalScan damage) {
    return """
    the log of the store %s is damaged: %s of %s differs from the data that was written. The sound \
    part ends with %s; %s frames with %s committed transactions of one or more writes after it \
    would be lost. Restore the data folder from a backup, and check the disk. To continue without \
    those transactions, start once with --set store.accept-wal-damage=%s; the log is kept as %s\
    """
        .formatted(
            store,
            damage.badFrame() == 0 ? "the header" : "frame " + damage.badFrame(),
            wal.getFileName(),
            damage.commits() == 0
                ? "nothing"
                : "frame " + damage.frames() + " and transaction " + damage.commits(),
            damage.framesLost(),
            damage.commitsLost(),
            damage.name(),
            aside(damage).getFileName());
  }

  private Path aside(WalScan damage) {
    return wal.resolveSibling(wal.getFileName() + ".damaged-" + damage.name());
  }

  /**
   * Cuts the log after the part that SQLite recovers. Otherwise the lost frames would follow the
   * next written ones and look like damage to them.
   */
  private void giveUp(WalScan damage) throws IOException {
    Path aside = aside(damage);
    try (FileChannel damaged =
            FileChannel.open(wal, StandardOpenOption.READ, StandardOpenOption.WRITE);
        FileChannel copy =
            PrivateFile.open(
                aside,
                Set.of(
                    StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING,
                    StandardOpenOption.WRITE))) {
      long size = damaged.size();
      for (long at = 0; at < size; ) {
        at += damaged.transferTo(at, size - at, copy);
      }
      copy.force(true);
      damaged.truncate(damage.goodBytes());
      damaged.force(true);
    }
    LOG.warn(
        "discarded {} frames with {} transactions of {} because the setting accepts it; a copy is in"
            + " {}",
        damage.framesLost(),
        damage.commitsLost(),
        wal,
        aside);
  }
}
