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
 * The folder of this process where each process of a database has its own, and what is lost there:
 * a blob that no folder has of which a process has told of late. Steps must not overlap.
 */
public final class OwnFolder {
  private static final long TELL_MILLIS = 3_600_000;

  /**
   * A process that was silent for so long is gone, and whatever only it had. A process that has
   * told of its own folder for less says of nothing that it is lost: others may still have to tell,
   * after an upgrade or a step of the clock.
   */
  static final long GONE_MILLIS = 24 * TELL_MILLIS;

  private final Database database;
  private final LocalBlobs blobs;
  private final ConfirmedTime time;
  private @Nullable Long toldAtMillis;

  /**
   * @param time the database's, which is the same for all processes
   */
  public OwnFolder(Database database, LocalBlobs blobs, ConfirmedTime time) {
    this.database = database;
    this.blobs = blobs;
    this.time = time;
  }

  /** By what the folder is known, to all processes. */
  Future<String> id() {
    return blobs.folderId();
  }

  /** Says now and then that there is a process with this folder. */
  Future<Void> tell() {
    OptionalLong confirmed = time.confirmedMillis();
    Long told = toldAtMillis;
    if (confirmed.isEmpty()
        || (told != null
            && confirmed.getAsLong() >= told
            && confirmed.getAsLong() < told + TELL_MILLIS)) {
      return Future.succeededFuture();
    }
    long now = confirmed.getAsLong();
    return id().compose(
            id ->
                database.commit(
                    List.of(
                        farFrom(now, "DELETE FROM scrub_folder WHERE told_at <= ? OR told_at >= ?"),
                        farFrom(
                            now, "DELETE FROM scrub_absence WHERE seen_at <= ? OR seen_at >= ?"),
                        Statement.of(
                            """
                            INSERT INTO scrub_folder (folder, since, told_at) VALUES (?, ?, ?) \
                            ON CONFLICT (folder) DO UPDATE SET told_at = excluded.told_at\
                            """,
                            id,
                            now,
                            now))))
        .onSuccess(stored -> toldAtMillis = now);
  }

  private static Statement farFrom(long nowMillis, String deletion) {
    return Statement.of(deletion, nowMillis - GONE_MILLIS, nowMillis + GONE_MILLIS);
  }

  /** Notes that the blob is not in this folder; tells whether it is in no other either. */
  Future<Boolean> lacks(String key, long nowMillis) {
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
                    .compose(noted -> isNowhere(key, id)));
  }

  private Future<Boolean> isNowhere(String key, String id) {
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
