package dev.bourse.store.postgres;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * The newest primary that this process has used. After a fail-over the former primary may still run
 * and accept writes (split brain). A promotion gives the promoted server a higher timeline, so of
 * two primaries with one system identifier the one on the higher timeline is the newer, and the
 * other is refused. Two promotions from one timeline give the same number and cannot be told apart.
 * The system identifier changes when a database is moved to another cluster, as by a major upgrade;
 * then nothing can be compared, and the new one is used. Nothing of this is stored: a process that
 * starts and reaches only a former primary uses it. Safe for use by several threads.
 */
final class PrimaryHistory {
  /** A server that answers neither question, as some hosted ones. */
  static final Primary UNKNOWN = new Primary(0, 0);

  /** A server that refuses the answer is not compared; a standby has no timeline of its own. */
  static final String IDENTITY =
      """
      SELECT (SELECT system_identifier FROM pg_control_system()) AS system,
      CASE WHEN pg_is_in_recovery() THEN '00000000' ELSE pg_walfile_name(pg_current_wal_lsn()) END
      AS segment\
      """;

  /** What is not protected on such a server. */
  public static final String UNTOLD =
      """
      the server does not report its timeline, so a fail-over is not recognized by it: a former \
      primary that still accepts writes is taken for the primary, and a machine whose grant a \
      fail-over lost may be reimaged under its tenant\
      """;

  /** How many digits of a segment's name tell its timeline. */
  private static final int TIMELINE_DIGITS = 8;

  /**
   * Which primary a server is.
   *
   * @param system the identifier of its cluster of databases
   * @param timeline grows with each promotion
   */
  record Primary(long system, long timeline) {
    /** From the two columns of {@link #IDENTITY}. */
    static Primary of(long system, String segment) {
      return new Primary(system, Long.parseLong(segment.substring(0, TIMELINE_DIGITS), 16));
    }

    /** False for a standby, and for a server that does not say. */
    boolean hasTimeline() {
      return timeline > 0;
    }

    /** True if it was the primary before the other. */
    boolean isBefore(Primary other) {
      return system == other.system && timeline < other.timeline;
    }
  }

  private final List<Consumer<Primary>> listeners = new CopyOnWriteArrayList<>();

  /** The former primaries that were found: at most one for each promotion. */
  private final Set<Primary> formers = new HashSet<>();

  private Primary newest = UNKNOWN;

  /** Tells a listener of each primary that is newer than the one before. */
  void onNewer(Consumer<Primary> listener) {
    listeners.add(listener);
  }

  /** Returns whether a primary may be used: it was not replaced by one that was used since. */
  synchronized boolean admits(Primary primary) {
    return !primary.isBefore(newest);
  }

  /** Returns true the first time that a former primary is found beside a newer one. */
  synchronized boolean isNews(Primary former) {
    return formers.add(former);
  }

  /** A primary is used from now on. */
  void used(Primary primary) {
    boolean isNewer;
    synchronized (this) {
      isNewer = newest.isBefore(primary);
      if (primary.system != 0 && !primary.isBefore(newest)) {
        newest = primary;
      }
    }
    if (isNewer) {
      listeners.forEach(listener -> listener.accept(primary));
    }
  }
}
