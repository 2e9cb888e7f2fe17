package dev.bourse.store.postgres;

import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;

/**
 * The keys under which this process records its groups of commits. The writer's context draws them;
 * the reader of the log asks from its own context which senders are this process and how far the
 * log must have come.
 */
final class OwnGroups {
  private static final int NAME_BYTES = 12;

  private final RandomGenerator random;
  private final Set<String> senders = ConcurrentHashMap.newKeySet();
  private volatile GroupId recorded = new GroupId("", 0);

  private volatile long recordedNanos = System.nanoTime();

  /** Whether the next group needs a new sender. */
  private volatile boolean isSetBack;

  // On the writer's context alone.
  private String sender = "";
  private long sent;

  OwnGroups(RandomGenerator random) {
    this.random = random;
    renew();
  }

  /**
   * The database lost groups of this process. A key that was lost must not be used again, because
   * other processes may know it with other contents, so the next group has a new sender. Called on
   * any thread.
   */
  void setBack() {
    recorded = new GroupId("", 0);
    isSetBack = true;
  }

  /** Draws a new sender, whose first group is 1. */
  private void renew() {
    byte[] name = new byte[NAME_BYTES];
    random.nextBytes(name);
    sender = HexFormat.of().formatHex(name);
    senders.add(sender);
    sent = 0;
    recorded = new GroupId(sender, 0);
  }

  /** A group begins to be recorded: returns its key. */
  GroupId begin() {
    if (isSetBack) {
      isSetBack = false;
      renew();
    }
    return next();
  }

  /** Returns the key of the next group; the same one until {@link #sent()}. */
  GroupId next() {
    return new GroupId(sender, sent + 1);
  }

  /** The COMMIT of the next group is on its way, so that its key is used up. */
  void sent() {
    sent++;
  }

  /** The log has a row of this key for certain, a group or a tombstone. */
  void recorded(GroupId id) {
    if (id.sender().equals(recorded.sender()) && id.seq() > recorded.seq()) {
      recorded = id;
      recordedNanos = System.nanoTime();
    }
  }

  /**
   * Whether this process has stored nothing for so long that others took it for ended and deleted
   * its rows.
   */
  boolean isSilent() {
    return System.nanoTime() - recordedNanos > CommitLogPruning.SILENT_MILLIS * 1_000_000;
  }

  /** Returns the newest group that the log has for certain; {@code seq} is 0 before the first. */
  GroupId newestRecorded() {
    return recorded;
  }

  boolean isOwn(String name) {
    return senders.contains(name);
  }
}
