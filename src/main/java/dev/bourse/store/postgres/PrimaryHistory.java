package dev.bourse.store.postgres;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * The newest primary that this process has used. After a fail-over, the former primary may still
 * run and accept writes (split brain). A promotion gives the promoted server a higher timeline, so
 * of two primaries with one system identifier, the one on the higher timeline is newer, and the
 * other one is rejected. Two promotions from one timeline give the same number and cannot be
 * distinguished. The system identifier changes when a database is moved to another cluster, for
 * example by a major upgrade; then no comparison is possible, and the new one is used. The history
 * is not stored: a process that starts and reaches only a former primary uses it. Thread-safe.
 */
final class PrimaryHistory {
  /** A server that answers neither question, as some hosted services do. */
  static final Primary UNKNOWN = new Primary(0, 0);

  /** A server that denies the answer is not compared; a standby has no timeline of its own. */
  static final String IDENTITY =
      """
      SELECT (SELECT system_identifier FROM pg_control_system()) AS system,
      CASE WHEN pg_is_in_recovery() THEN '00000000' ELSE pg_walfile_name(pg_current_wal_lsn()) END
      AS segment\
      """;

  /** The warning about a server without a timeline. */
  public static final String NO_TIMELINE =
      """
      the server does not report its timeline, so a fail-over cannot be detected: a former \
      primary that still accepts writes is used as the primary, and a machine whose grant a \
      fail-over lost may be reimaged under its tenant\
      """;

  /** The digits of a segment's name that contain its timeline. */
  private static final int TIMELINE_DIGITS = 8;

  /**
   * The identity of a primary.
   *
   * @param system the identifier of its database cluster
   * @param timeline grows with each promotion
   */
  record Primary(long system, long timeline) {
    /** Parses the two columns of {@link #IDENTITY}. */
    static Primary of(long system, String segment) {
      return new Primary(system, Long.parseLong(segment.substring(0, TIMELINE_DIGITS), 16));
    }

    /** Returns false for a standby, and for a server that does not report its timeline. */
    boolean hasTimeline() {
      return timeline > 0;
    }

    /** Returns true if this was the primary before the other one. */
    boolean isBefore(Primary other) {
      return system == other.system && timeline < other.timeline;
    }
  }

  private final List<Consumer<Primary>> listeners = new CopyOnWriteArrayList<>();

  /** The former primaries that were found: at most one per promotion. */
  private final Set<Primary> formerPrimaries = new HashSet<>();

  private Primary newest = UNKNOWN;

  /** Calls a listener with each primary that is newer than the previous one. */
  void onNewer(Consumer<Primary> listener) {
    listeners.add(listener);
  }

  /** Returns the newest primary that was used; {@link #UNKNOWN} before the first. */
  synchronized Primary newest() {
    return newest;
  }

  /** Returns whether a primary may be used: no newer one has been used since. */
  synchronized boolean admits(Primary primary) {
    return !primary.isBefore(newest);
  }

  /** Returns true the first time that a former primary is found next to a newer one. */
  synchronized boolean isNews(Primary former) {
    return formerPrimaries.add(former);
  }

  /** Records that a primary is used from now on. */
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
