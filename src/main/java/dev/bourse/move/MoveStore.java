package dev.bourse.move;

import dev.bourse.checkpoint.StoredBlobs;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The rows of a move: what was asked for, what is being copied, and what was found. */
public final class MoveStore {
  private static final String NAME = "last";
  private static final String RUNNING = "running";
  private static final String ENDED = "ended";

  private final Database database;

  public MoveStore(Database database) {
    this.database = database;
  }

  /** Another process has the blob, or the move was ended or asked for anew. */
  static final class LostRace extends RuntimeException {
    private static final long serialVersionUID = 1;

    LostRace() {
      super("another process moves this blob", null, false, false);
    }
  }

  /**
   * The move that was asked for last.
   *
   * @param endedAtMillis null while it runs
   * @param movedBlobs since it was asked for, of all processes
   * @param leftBlobs what the last walk found to be done still; -1 before the first
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

  /** A blob that a process copies, by which attempt at it. */
  record Claim(String key, int attempts) {}

  /** A blob that cannot be moved, as operators are told of it. */
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

  /** Begins a move and forgets what the one before found; one that runs goes on as it is. */
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

  /** Says what a walk found; the move has ended when nothing is left but what cannot be moved. */
  Future<Void> walked(Asked asked, long left, boolean isEnd, long nowMillis) {
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
                asked.askedAtMillis())));
  }

  /**
   * Takes a blob that nobody has, or whoever had it has not told of for a while; empty when
   * somebody is at it.
   *
   * @param leftMillis what was last told of earlier is left
   */
  Future<Optional<Claim>> take(String key, long nowMillis, long leftMillis) {
    return database
        .readFirst(
            "SELECT told_at, attempts FROM blob_move_claim WHERE blob_key = ?",
            List.of(key),
            row -> new long[] {row.integer("told_at"), row.integer("attempts")})
        .compose(
            found -> {
              if (found.isEmpty()) {
                return taken(
                    new Claim(key, 1),
                    Statement.guarded(
                        LostRace::new,
                        "INSERT INTO blob_move_claim (blob_key, told_at, attempts)"
                            + " VALUES (?, ?, 1) ON CONFLICT (blob_key) DO NOTHING",
                        key,
                        nowMillis));
              }
              long toldAt = found.get()[0];
              int attempts = (int) found.get()[1];
              return toldAt > leftMillis && toldAt <= nowMillis + (nowMillis - leftMillis)
                  ? Future.succeededFuture(Optional.empty())
                  : taken(
                      new Claim(key, attempts + 1),
                      Statement.guarded(
                          LostRace::new,
                          "UPDATE blob_move_claim SET told_at = ?, attempts = ?"
                              + " WHERE blob_key = ? AND attempts = ? AND told_at = ?",
                          nowMillis,
                          attempts + 1,
                          key,
                          attempts,
                          toldAt));
            });
  }

  private Future<Optional<Claim>> taken(Claim claim, Statement statement) {
    return database
        .commit(List.of(statement))
        .map(Optional.of(claim))
        .recover(
            e ->
                e instanceof LostRace
                    ? Future.succeededFuture(Optional.empty())
                    : Future.failedFuture(e));
  }

  /** Says that somebody is at it, or at time 0 that nobody is. */
  Future<Void> tell(Claim claim, long nowMillis) {
    return database.commit(
        List.of(
            Statement.guarded(
                LostRace::new,
                "UPDATE blob_move_claim SET told_at = ? WHERE blob_key = ? AND attempts = ?",
                nowMillis,
                claim.key(),
                claim.attempts())));
  }

  /** Ends the claim on a blob that is of no more use. */
  Future<Void> drop(Claim claim) {
    return database.commit(List.of(ended(claim)));
  }

  /** Has the blob deleted in a while where it was. */
  Future<Void> moved(Claim claim, StoredBlobs.Blob blob, String from, long nowMillis) {
    return database.commit(
        List.of(
            ended(claim),
            garbage(blob.key(), from, nowMillis),
            Statement.of("DELETE FROM blob_move_fault WHERE blob_key = ?", blob.key()),
            Statement.of(
                "UPDATE blob_move SET moved_blobs = moved_blobs + 1, moved_bytes = moved_bytes + ?"
                    + " WHERE name = ?",
                blob.bytes(),
                NAME)));
  }

  /**
   * Has a blob deleted in a while that is in both stores, because a process died behind the copy.
   *
   * @param leftMillis a claim that was last told of earlier is ended
   */
  Future<Void> isInBoth(String key, String from, long nowMillis, long leftMillis) {
    return database.commit(
        List.of(
            garbage(key, from, nowMillis),
            Statement.of(
                "DELETE FROM blob_move_claim WHERE blob_key = ? AND told_at <= ?",
                key,
                leftMillis)));
  }

  private static Statement garbage(String key, String from, long nowMillis) {
    return Statement.of(
        "INSERT INTO blob_moved (blob_key, store, moved_at) VALUES (?, ?, ?)"
            + " ON CONFLICT (store, blob_key) DO NOTHING",
        key,
        from,
        nowMillis);
  }

  /** The blob cannot be moved. */
  Future<Void> keepFault(Claim claim, StoredBlobs.Blob blob, String detail, long nowMillis) {
    return database.commit(
        List.of(
            ended(claim),
            Statement.of(
                "INSERT INTO blob_move_fault (blob_key, item_id, revision, detail, found_at)"
                    + " VALUES (?, ?, ?, ?, ?) ON CONFLICT (blob_key)"
                    + " DO UPDATE SET detail = excluded.detail",
                blob.key(),
                blob.item(),
                blob.revision(),
                detail,
                nowMillis)));
  }

  private static Statement ended(Claim claim) {
    return Statement.guarded(
        LostRace::new,
        "DELETE FROM blob_move_claim WHERE blob_key = ? AND attempts = ?",
        claim.key(),
        claim.attempts());
  }

  /** Blobs that were moved from a store before some time, the oldest first. */
  Future<List<String>> listMoved(String from, long beforeMillis, int limit) {
    return database.read(
        "SELECT blob_key FROM blob_moved WHERE store = ? AND moved_at <= ?"
            + " ORDER BY moved_at, blob_key LIMIT ?",
        List.of(from, beforeMillis, limit),
        row -> row.text("blob_key"));
  }

  /** They are deleted where they were, or are to stay there. */
  Future<Void> forgetMoved(String from, List<String> keys) {
    return database.commit(
        keys.stream()
            .map(
                key ->
                    Statement.of(
                        "DELETE FROM blob_moved WHERE store = ? AND blob_key = ?", from, key))
            .toList());
  }

  /** What cannot be moved, in the order of keys. */
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
