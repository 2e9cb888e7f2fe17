package dev.bourse.store.postgres;

import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;

/**
 * The keys of this process's groups in the commit log. The writer's context draws them. The log
 * reader, on its own context, asks which senders belong to this process and how far the log must
 * have advanced.
 */
final class OwnGroups {
  private static final int NAME_BYTES = 12;

  private final RandomGenerator random;
  private final Set<String> senders = ConcurrentHashMap.newKeySet();
  private volatile GroupId recorded = new GroupId("", 0);

  private volatile long recordedNanos = System.nanoTime();

  /** True if the next group needs a new sender. */
  private volatile boolean isSetBack;

  // On the writer's context alone.
  private String sender = "";
  private long sent;

  OwnGroups(RandomGenerator random) {
    this.random = random;
    renew();
  }

  /**
   * Records that the database lost groups of this process. Other processes may know a lost key with
   * other contents, so keys are not reused: the next group has a new sender. Called on any thread.
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

  /** Returns the key of a group that is about to be recorded. */
  GroupId begin() {
    if (isSetBack) {
      isSetBack = false;
      renew();
    }
    return next();
  }

  /** Returns the key of the next group, which stays the same until {@link #sent()}. */
  GroupId next() {
    return new GroupId(sender, sent + 1);
  }

  /** Marks the next key as used, because the COMMIT of its group was sent. */
  void sent() {
    sent++;
  }

  /** Records that the log certainly has a row with this key, a group or a tombstone. */
  void recorded(GroupId id) {
    if (id.sender().equals(recorded.sender()) && id.seq() > recorded.seq()) {
      recorded = id;
      recordedNanos = System.nanoTime();
    }
  }

  /**
   * Returns whether this process has stored nothing for so long that other processes considered it
   * ended and deleted its rows.
   */
  boolean isSilent() {
    return System.nanoTime() - recordedNanos > CommitLogPruning.SILENT_MILLIS * 1_000_000;
  }

  /**
   * Returns the newest group that is certainly in the log; its {@code seq} is 0 before the first.
   */
  GroupId newestRecorded() {
    return recorded;
  }

  boolean isOwn(String name) {
    return senders.contains(name);
  }
}
