package dev.bourse.store.sqlite;

import dev.bourse.core.PrivateFile;
import dev.bourse.store.StoreRefused;
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
 * Looks at the write-ahead log that the last process left behind, before SQLite does: SQLite ends
 * it at the first frame that is not sound, and what was committed behind that is gone without a
 * word.
 */
final class WalGuard {
  private static final Logger LOG = LoggerFactory.getLogger(WalGuard.class);

  private final Path store;
  private final Path wal;

  /** Of a store that this process has the lock of and has not opened. */
  WalGuard(Path store) {
    this.store = store;
    this.wal = store.resolveSibling(store.getFileName() + "-wal");
  }

  /** What the log holds; null when there is none, or nothing in it. */
  @Nullable WalScan scan() throws IOException {
    return Files.exists(wal) ? WalScan.read(wal) : null;
  }

  /**
   * Lets SQLite open the store, or not.
   *
   * @param acceptedDamage the name of a damage the operator accepts: what was committed behind it
   *     is given up, and the log is copied aside first
   * @throws StoreRefused when commits would be lost that nobody has given up
   */
  void check(String acceptedDamage) throws IOException {
    WalScan found = scan();
    if (found == null) {
      return;
    }
    if (found.frames() > 0 && (!Files.exists(store) || Files.size(store) == 0)) {
      throw StoreRefused.of(
          """
          there is a log %s of %s transactions but no store %s to which it belongs; put that \
          back, or move the log away to begin anew\
          """,
          wal, found.commits(), store);
    }
    if (found.isTailTorn()) {
      LOG.warn(
          """
          the last transaction in {} is not whole, from frame {} on, as when power fails; it \
          was acknowledged to nobody unless the disk lost what it had flushed\
          """,
          wal,
          found.badFrame());
    }
    if (!found.isDamaged()) {
      return;
    }
    if (!acceptedDamage.equals(found.name())) {
      throw new StoreRefused(told(found), null);
    }
    giveUp(found);
  }

  /** What an operator has to know of a damage. */
  String told(WalScan damage) {
    return """
    the log of the store %s is damaged: %s of %s is not what was written. What is sound ends \
    with %s; behind that are %s frames with %s transactions that were committed, each of one \
    or more writes, and would be lost. Restore the data folder from a backup, and have the \
    disk looked at. To go on without them, start once with --set store.accept-wal-damage=%s; \
    the log is kept as %s\
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
   * Cuts the log behind what SQLite recovers. Left as it is, the lost frames would lie behind the
   * next ones to be written and look like a damage of those.
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
        "{} frames with {} transactions of {} are given up, as the setting says; they are kept in"
            + " {}",
        damage.framesLost(),
        damage.commitsLost(),
        wal,
        aside);
  }
}
