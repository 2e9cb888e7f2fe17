package dev.bourse.scrub;

import dev.bourse.blob.LocalBlobs;
import dev.bourse.core.ConfirmedTime;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Announces this process's folder where each process of a database has its own, and detects lost
 * blobs: those that no recently announced folder has. Steps must not overlap.
 */
public final class FolderRegistry {
  private static final long ANNOUNCE_MILLIS = 3_600_000;

  /**
   * Silence after which a process counts as gone, with everything only it had. A process that
   * announced its own folder more recently than this reports no losses, because others may still
   * have to announce theirs after an upgrade or a clock step.
   */
  static final long GONE_MILLIS = 24 * ANNOUNCE_MILLIS;

  private final Database database;
  private final LocalBlobs blobs;
  private final ConfirmedTime time;
  private @Nullable Long announcedAtMillis;

  /**
   * @param time the database's, which is the same for all processes
   */
  public FolderRegistry(Database database, LocalBlobs blobs, ConfirmedTime time) {
    this.database = database;
    this.blobs = blobs;
    this.time = time;
  }

  /** Returns the folder's id, which is unique among all processes. */
  Future<String> id() {
    return blobs.folderId();
  }

  /** Announces at intervals that a process has this folder. */
  Future<Void> announce() {
    OptionalLong confirmed = time.confirmedMillis();
    Long told = announcedAtMillis;
    if (confirmed.isEmpty()
        || (told != null
            && confirmed.getAsLong() >= told
            && confirmed.getAsLong() < told + ANNOUNCE_MILLIS)) {
      return Future.succeededFuture();
    }
    long now = confirmed.getAsLong();
    return id().compose(
            id ->
                database.commit(
                    List.of(
                        deleteStale(
                            now, "DELETE FROM scrub_folder WHERE told_at <= ? OR told_at >= ?"),
                        deleteStale(
                            now, "DELETE FROM scrub_absence WHERE seen_at <= ? OR seen_at >= ?"),
                        Statement.of(
                            """
                            INSERT INTO scrub_folder (folder, since, told_at) VALUES (?, ?, ?) \
                            ON CONFLICT (folder) DO UPDATE SET told_at = excluded.told_at\
                            """,
                            id,
                            now,
                            now))))
        .onSuccess(stored -> announcedAtMillis = now);
  }

  private static Statement deleteStale(long nowMillis, String deletion) {
    return Statement.of(deletion, nowMillis - GONE_MILLIS, nowMillis + GONE_MILLIS);
  }

  /** Records that the blob is not in this folder; returns whether no other folder has it either. */
  Future<Boolean> recordAbsence(String key, long nowMillis) {
    return id().compose(
            id ->
                database
                    .commit(
                        List.of(
                            Statement.of(
                                """
                                INSERT INTO scrub_absence (blob_key, folder, seen_at) \
                                VALUES (?, ?, ?) ON CONFLICT (blob_key, folder) \
                                DO UPDATE SET seen_at = excluded.seen_at\
                                """,
                                key,
                                id,
                                nowMillis)))
                    .compose(noted -> isLost(key, id)));
  }

  private Future<Boolean> isLost(String key, String id) {
    OptionalLong confirmed = time.confirmedMillis();
    if (confirmed.isEmpty()) {
      return Future.succeededFuture(false);
    }
    long now = confirmed.getAsLong();
    long gone = now - GONE_MILLIS;
    long ahead = now + GONE_MILLIS;
    return database.exists(
        """
        SELECT 1 FROM scrub_folder mine \
        WHERE mine.folder = ? AND mine.since <= ? AND mine.told_at > ? AND mine.told_at < ? \
        AND NOT EXISTS (SELECT 1 FROM scrub_folder other WHERE other.folder <> mine.folder \
        AND other.told_at > ? AND other.told_at < ? \
        AND NOT EXISTS (SELECT 1 FROM scrub_absence a WHERE a.blob_key = ? \
        AND a.folder = other.folder AND a.seen_at > ? AND a.seen_at < ?))\
        """,
        List.of(id, gone, gone, ahead, gone, ahead, key, gone, ahead));
  }
}
