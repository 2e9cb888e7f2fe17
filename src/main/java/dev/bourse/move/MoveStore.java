package dev.bourse.move;

import dev.bourse.checkpoint.StoredBlobs;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import dev.bourse.walk.BlobClaims;
import dev.bourse.walk.BlobWalker;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rows of a move: the request, the claims on blobs, and the faults. */
public final class MoveStore {
  private static final String NAME = "last";
  private static final String RUNNING = "running";
  private static final String ENDED = "ended";

  private final Database database;
  private final BlobClaims claims;

  public MoveStore(Database database) {
    this.database = database;
    this.claims = new BlobClaims(database, "blob_move_claim");
  }

  BlobClaims claims() {
    return claims;
  }

  /**
   * The last requested move.
   *
   * @param endedAtMillis null while it runs
   * @param movedBlobs blobs moved since the request, by all processes
   * @param leftBlobs blobs that the last walk left undone; -1 before the first walk
   */
  public record Asked(
      String from,
      String to,
      boolean isRunning,
      long askedAtMillis,
      @Nullable Long endedAtMillis,
      long movedBlobs,
      long movedBytes,
      long leftBlobs) {}

  /** A blob that cannot be moved, as operators see it. */
  public record Found(String key, String item, int revision, String detail, long foundAtMillis) {}

  Future<Optional<Asked>> find() {
    return database.readFirst(
        "SELECT * FROM blob_move WHERE name = ?", List.of(NAME), MoveStore::asked);
  }

  private static Asked asked(Row row) {
    return new Asked(
        row.text("from_store"),
        row.text("to_store"),
        row.text("state").equals(RUNNING),
        row.integer("asked_at"),
        row.integerOrNull("ended_at"),
        row.integer("moved_blobs"),
        row.integer("moved_bytes"),
        row.integer("left_blobs"));
  }

  /** Starts a move and deletes the faults of the previous one; a running one continues. */
  Future<Void> ask(String from, String to, long nowMillis) {
    String isAnother =
        "NOT EXISTS (SELECT 1 FROM blob_move m WHERE m.name = ? AND m.state = ?"
            + " AND m.from_store = ? AND m.to_store = ?)";
    return database.commit(
        List.of(
            Statement.of("DELETE FROM blob_move_fault WHERE " + isAnother, NAME, RUNNING, from, to),
            Statement.of(
                """
                INSERT INTO blob_move (name, from_store, to_store, state, asked_at, moved_blobs, \
                moved_bytes, left_blobs) VALUES (?, ?, ?, ?, ?, 0, 0, -1) \
                ON CONFLICT (name) DO UPDATE SET from_store = excluded.from_store, \
                to_store = excluded.to_store, state = excluded.state, \
                asked_at = excluded.asked_at, ended_at = NULL, moved_blobs = 0, moved_bytes = 0, \
                left_blobs = -1 WHERE blob_move.state <> excluded.state \
                OR blob_move.from_store <> excluded.from_store \
                OR blob_move.to_store <> excluded.to_store\
                """,
                NAME,
                from,
                to,
                RUNNING,
                nowMillis)));
  }

  /** Records the end of a walk; the move has ended when only faulty blobs are left. */
  Future<Void> recordWalk(long askedAtMillis, long left, boolean isEnd, long nowMillis) {
    return database.commit(
        List.of(
            Statement.of(
                "UPDATE blob_move SET left_blobs = ?, state = ?, ended_at = ?"
                    + " WHERE name = ? AND state = ? AND asked_at = ?",
                left,
                isEnd ? ENDED : RUNNING,
                isEnd ? nowMillis : null,
                NAME,
                RUNNING,
                askedAtMillis)));
  }

  /** Records a moved blob and schedules its deletion from the former store. */
  Future<Void> moved(BlobWalker.Visit visit, String from) {
    StoredBlobs.Blob blob = visit.blob();
    return database.commit(
        List.of(
            claims.ended(visit.claim()),
            garbage(blob.key(), from, visit.nowMillis()),
            Statement.of("DELETE FROM blob_move_fault WHERE blob_key = ?", blob.key()),
            Statement.of(
                "UPDATE blob_move SET moved_blobs = moved_blobs + 1, moved_bytes = moved_bytes + ?"
                    + " WHERE name = ?",
                blob.bytes(),
                NAME)));
  }

  /**
   * Schedules the deletion of a blob that is in both stores because a process died after the copy,
   * and deletes the claim of that process when it has expired.
   */
  Future<Void> scheduleDeletion(String key, String from, long nowMillis) {
    return database.commit(
        List.of(
            garbage(key, from, nowMillis),
            Statement.of(
                "DELETE FROM blob_move_claim WHERE blob_key = ? AND told_at <= ?",
                key,
                nowMillis - BlobClaims.EXPIRY_MILLIS)));
  }

  private static Statement garbage(String key, String from, long nowMillis) {
    return Statement.of(
        "INSERT INTO blob_moved (blob_key, store, moved_at) VALUES (?, ?, ?)"
            + " ON CONFLICT (store, blob_key) DO NOTHING",
        key,
        from,
        nowMillis);
  }

  /** Records that the blob cannot be moved. */
  Future<Void> keepFault(BlobWalker.Visit visit, String detail) {
    StoredBlobs.Blob blob = visit.blob();
    return database.commit(
        List.of(
            claims.ended(visit.claim()),
            Statement.of(
                "INSERT INTO blob_move_fault (blob_key, item_id, revision, detail, found_at)"
                    + " VALUES (?, ?, ?, ?, ?) ON CONFLICT (blob_key)"
                    + " DO UPDATE SET detail = excluded.detail",
                blob.key(),
                blob.item(),
                blob.revision(),
                detail,
                visit.nowMillis())));
  }

  /** Returns true if a fault of the blob is recorded in this move. */
  Future<Boolean> hasFault(String key) {
    return database.exists("SELECT 1 FROM blob_move_fault WHERE blob_key = ?", List.of(key));
  }

  /** Returns true if the scrub found the blob on the disk of no process. */
  Future<Boolean> isLost(String key) {
    return database.exists(
        "SELECT 1 FROM scrub_fault WHERE blob_key = ? AND kind = 'missing'", List.of(key));
  }

  /** Lists blobs that were moved from a store before a time, oldest first. */
  Future<List<String>> listMoved(String from, long beforeMillis, int limit) {
    return database.read(
        "SELECT blob_key FROM blob_moved WHERE store = ? AND moved_at <= ?"
            + " ORDER BY moved_at, blob_key LIMIT ?",
        List.of(from, beforeMillis, limit),
        row -> row.text("blob_key"));
  }

  /** Deletes the records of blobs that were deleted from the former store, or stay there. */
  Future<Void> forgetMoved(String from, List<String> keys) {
    return database.commit(
        keys.stream()
            .map(
                key ->
                    Statement.of(
                        "DELETE FROM blob_moved WHERE store = ? AND blob_key = ?", from, key))
            .toList());
  }

  /** Lists faults in the order of keys. */
  Future<List<Found>> listFaults(String after, int limit) {
    return database.read(
        "SELECT * FROM blob_move_fault WHERE blob_key > ? ORDER BY blob_key LIMIT ?",
        List.of(after, limit),
        row ->
            new Found(
                row.text("blob_key"),
                row.text("item_id"),
                row.smallInteger("revision"),
                row.text("detail"),
                row.integer("found_at")));
  }
}
