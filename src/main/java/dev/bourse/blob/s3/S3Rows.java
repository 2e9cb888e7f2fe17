package dev.bourse.blob.s3;

import dev.bourse.blob.UploadBusyException;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The database rows of one object store: uploads, their parts and pieces, and blobs. */
final class S3Rows {
  /** Not a valid upload name, because names are not empty. */
  private static final String NO_UPLOAD = "";

  private final Database database;
  private final String store;
  private final Clock clock;

  /**
   * @param store the store's name, which is in all its rows
   */
  S3Rows(Database database, String store, Clock clock) {
    this.database = database;
    this.store = store;
    this.clock = clock;
  }

  /** The state of an upload. */
  enum State {
    /** Takes bytes. */
    OPEN,
    /** All parts are stored, and their completion may have been requested. Cannot be aborted. */
    COMPLETING,
    /** Its object is complete. */
    COMPLETE,
    /** Its objects are being deleted. */
    ABORTING;

    private String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    private static State of(String label) {
      return valueOf(label.toUpperCase(Locale.ROOT));
    }
  }

  /**
   * An upload.
   *
   * @param base the prefix of its objects' names; unique even among uploads of the same name
   * @param epoch how often it was opened; an object made by an opening ends in its epoch
   * @param object its object; null before there is one
   * @param multipart the store's id of it; null before the first part is sent
   * @param bytes its length, from {@link State#COMPLETING} on
   */
  record UploadRow(
      String id,
      String base,
      int epoch,
      State state,
      @Nullable String object,
      @Nullable String multipart,
      long bytes) {
    /** Returns the name of an object that this opening makes. */
    String objectOfEpoch(int one) {
      return base + '.' + one;
    }

    /**
     * Returns whether an object or a piece belongs to this upload; the names of both contain the
     * base.
     */
    boolean has(String name) {
      return name.contains(base + '.');
    }

    /** Returns whether another row is of the same upload, and not of a later one with its name. */
    boolean isSame(UploadRow other) {
      return other.base.equals(base);
    }

    /** Returns whether another row is of the same opening. */
    boolean isSameOpening(UploadRow other) {
      return isSame(other) && other.epoch == epoch;
    }

    /**
     * Returns whether this opening still owns the upload. A complete upload is current for every
     * opening.
     */
    boolean isCurrent(UploadRow now) {
      return isSameOpening(now)
          || (state == State.COMPLETE && now.state == state && Objects.equals(now.object, object));
    }

    /** Returns the same upload without a multipart upload. */
    UploadRow withoutMultipart() {
      return new UploadRow(id, base, epoch, state, null, null, bytes);
    }

    UploadRow withMultipart(String madeObject, String id) {
      return new UploadRow(this.id, base, epoch, state, madeObject, id, bytes);
    }

    UploadRow withState(State next, String madeObject, long all) {
      return new UploadRow(id, base, epoch, next, madeObject, multipart, all);
    }
  }

  /** A part that the store has taken. */
  record Part(int number, String tag, long bytes) {}

  /**
   * An object that stores a piece of an upload's tail.
   *
   * @param start its offset in the upload
   */
  record Piece(String upload, String object, long start, long bytes) {
    long end() {
      return start + bytes;
    }
  }

  /** A blob's object. */
  record Blob(String object, long bytes) {}

  private static UploadBusyException busyElsewhere(String upload) {
    return new UploadBusyException("another process has upload " + upload);
  }

  /**
   * Opens an upload: creates it or takes it over. Fails with {@link UploadBusyException} if it is
   * being finished.
   *
   * @param base the prefix of its objects' names if it is new; must be unique
   */
  Future<UploadRow> open(String id, String base) {
    return find(id)
        .compose(
            found -> {
              if (found.isPresent() && found.get().state() == State.ABORTING) {
                throw new UploadBusyException("upload " + id + " is being abandoned");
              }
              int epoch = found.map(UploadRow::epoch).orElse(0) + 1;
              String begun = found.map(UploadRow::base).orElse(base);
              return database
                  .commit(List.of(opening(id, begun, epoch)))
                  .compose(opened -> find(id))
                  .map(
                      now ->
                          now.filter(row -> row.base().equals(begun) && row.epoch() == epoch)
                              .orElseThrow(() -> busyElsewhere(id)));
            });
  }

  /** Two concurrent openings would set the same epoch, so one of them fails and has to retry. */
  private Statement opening(String id, String base, int epoch) {
    long now = clock.millis();
    return epoch == 1
        ? Statement.guarded(
            () -> busyElsewhere(id),
            """
            INSERT INTO blob_upload (store, upload, base, epoch, state, bytes, changed_at)
            VALUES (?, ?, ?, 1, 'open', 0, ?) ON CONFLICT (store, upload) DO NOTHING\
            """,
            store,
            id,
            base,
            now)
        : Statement.guarded(
            () -> busyElsewhere(id),
            """
            UPDATE blob_upload SET epoch = ?, changed_at = ?, finishing_until = 0
            WHERE store = ? AND upload = ? AND base = ? AND epoch = ? AND state <> 'aborting'
            AND finishing_until NOT BETWEEN ? AND ?\
            """,
            epoch,
            now,
            store,
            id,
            base,
            epoch - 1,
            now,
            now + 2 * CompletionMark.HELD_MILLIS);
  }

  /**
   * Marks an upload as being completed by this opening, so that others leave it alone. Readers
   * ignore a mark far in the future, because a wrong clock set it.
   *
   * @param untilMillis when the mark expires; 0 removes it
   */
  Future<Void> markCompletion(UploadRow upload, long untilMillis) {
    return database.commit(
        List.of(
            Statement.of(
                """
                UPDATE blob_upload SET finishing_until = ?
                WHERE store = ? AND upload = ? AND base = ? AND epoch = ?\
                """,
                untilMillis,
                store,
                upload.id(),
                upload.base(),
                upload.epoch())));
  }

  Future<Optional<UploadRow>> find(String id) {
    return database.readFirst(
        """
        SELECT upload, base, epoch, state, object, multipart_id, bytes FROM blob_upload
        WHERE store = ? AND upload = ?\
        """,
        List.of(store, id),
        S3Rows::upload);
  }

  private static UploadRow upload(Row row) {
    return new UploadRow(
        row.text("upload"),
        row.text("base"),
        row.smallInteger("epoch"),
        State.of(row.text("state")),
        row.textOrNull("object"),
        row.textOrNull("multipart_id"),
        row.integer("bytes"));
  }

  Future<List<Part>> parts(String id) {
    return database.read(
        """
        SELECT number, tag, bytes FROM blob_part WHERE store = ? AND upload = ? ORDER BY number\
        """,
        List.of(store, id),
        row -> new Part(row.smallInteger("number"), row.text("tag"), row.integer("bytes")));
  }

  /**
   * Returns the stored pieces of an upload, ordered by offset, the longest first. Uploads with the
   * same name have other pieces, because their objects have another base.
   */
  Future<List<Piece>> keptPieces(UploadRow upload) {
    return database
        .read(
            """
            SELECT upload, object, start, bytes FROM blob_piece
            WHERE store = ? AND upload = ? AND kept = 1 ORDER BY start, bytes DESC, object\
            """,
            List.of(store, upload.id()),
            S3Rows::piece)
        .map(all -> all.stream().filter(piece -> upload.has(piece.object())).toList());
  }

  static Piece piece(Row row) {
    return new Piece(
        row.text("upload"), row.text("object"), row.integer("start"), row.integer("bytes"));
  }

  /** Guards a commit: this opening must still own the upload. */
  private Statement currentEpochGuard(UploadRow upload, State from) {
    return Statement.guarded(
        () -> busyElsewhere(upload.id()),
        """
        UPDATE blob_upload SET changed_at = ?
        WHERE store = ? AND upload = ? AND base = ? AND epoch = ? AND state = ?\
        """,
        clock.millis(),
        store,
        upload.id(),
        upload.base(),
        upload.epoch(),
        from.label());
  }

  /** Records that the store has created a multipart upload. */
  Future<Void> recordMultipart(UploadRow upload, String object, String multipart) {
    return database.commit(
        List.of(
            currentEpochGuard(upload, State.OPEN),
            Statement.of(
                """
                UPDATE blob_upload SET object = ?, multipart_id = ? WHERE store = ? AND upload = ?\
                """,
                object,
                multipart,
                store,
                upload.id())));
  }

  /**
   * Records a part that the store took. If a part is sent again, its later tag replaces the earlier
   * one.
   */
  Future<Void> recordPart(UploadRow upload, Part part) {
    return database.commit(
        List.of(
            currentEpochGuard(upload, State.OPEN),
            Statement.of(
                """
                INSERT INTO blob_part (store, upload, number, tag, bytes) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (store, upload, number) DO UPDATE
                SET tag = excluded.tag, bytes = excluded.bytes\
                """,
                store,
                upload.id(),
                part.number(),
                part.tag(),
                part.bytes())));
  }

  /** Records a piece before its object is created. */
  Future<Void> recordPendingPiece(UploadRow upload, Piece piece) {
    return database.commit(
        List.of(
            currentEpochGuard(upload, State.OPEN),
            Statement.of(
                """
                INSERT INTO blob_piece (store, object, upload, start, bytes, kept, made_at)
                VALUES (?, ?, ?, ?, ?, 0, ?)
                ON CONFLICT (store, object) DO UPDATE
                SET start = excluded.start, bytes = excluded.bytes, kept = 0,
                made_at = excluded.made_at\
                """,
                store,
                piece.object(),
                upload.id(),
                piece.start(),
                piece.bytes(),
                clock.millis())));
  }

  /** Records that a piece's object exists. */
  Future<Void> recordStoredPiece(UploadRow upload, Piece piece) {
    return database.commit(
        List.of(
            currentEpochGuard(upload, State.OPEN),
            Statement.of(
                "UPDATE blob_piece SET kept = 1 WHERE store = ? AND object = ?",
                store,
                piece.object())));
  }

  /** Deletes the row of a piece whose object is deleted. */
  Future<Void> forget(Piece piece) {
    return database.commit(List.of(deletion(piece)));
  }

  /** Records that all parts are stored. The upload cannot be aborted from now on. */
  Future<Void> recordCompleting(UploadRow upload, long bytes) {
    return database.commit(
        List.of(
            currentEpochGuard(upload, State.OPEN),
            Statement.of(
                """
                UPDATE blob_upload SET state = 'completing', bytes = ?
                WHERE store = ? AND upload = ?\
                """,
                bytes,
                store,
                upload.id())));
  }

  /** Records that the multipart upload's object is complete, from any opening. */
  Future<Void> recordCompleted(UploadRow upload) {
    return database.commit(
        List.of(
            Statement.of(
                """
                UPDATE blob_upload SET state = 'complete', changed_at = ?
                WHERE store = ? AND upload = ? AND base = ? AND state = 'completing'\
                """,
                clock.millis(),
                store,
                upload.id(),
                upload.base())));
  }

  /** Records the object of an upload that is smaller than a part and was put at once. */
  Future<Void> recordCompleted(UploadRow upload, Piece whole) {
    return database.commit(
        List.of(
            currentEpochGuard(upload, State.OPEN),
            Statement.of(
                """
                UPDATE blob_upload SET state = 'complete', object = ?, bytes = ?
                WHERE store = ? AND upload = ?\
                """,
                whole.object(),
                whole.bytes(),
                store,
                upload.id()),
            deletion(whole)));
  }

  private Statement deletion(Piece piece) {
    return Statement.of(
        "DELETE FROM blob_piece WHERE store = ? AND object = ?", store, piece.object());
  }

  /** Fails with {@link UploadBusyException} if another opening owns the upload. */
  Future<Void> requireCurrentEpoch(UploadRow upload) {
    return database.commit(List.of(currentEpochGuard(upload, State.OPEN)));
  }

  /** Gives a complete upload's object to a key. This commit makes the blob readable. */
  Future<Void> publish(UploadRow upload, String key) {
    return database.commit(
        List.of(
            Statement.guarded(
                () -> busyElsewhere(upload.id()),
                """
                DELETE FROM blob_upload
                WHERE store = ? AND upload = ? AND base = ? AND state = 'complete'\
                """,
                store,
                upload.id(),
                upload.base()),
            Statement.of(
                "DELETE FROM blob_part WHERE store = ? AND upload = ?", store, upload.id()),
            Statement.of(
                """
                INSERT INTO blob (store, blob_key, object, bytes, stored_at)
                VALUES (?, ?, ?, ?, ?)\
                """,
                store,
                key,
                String.valueOf(upload.object()),
                upload.bytes(),
                clock.millis())));
  }

  /**
   * Starts to delete an upload, even if another process has it open. Does nothing to an upload that
   * is completing.
   *
   * @param from the states the upload may be in
   */
  Future<Void> abort(UploadRow upload, List<State> from) {
    List<Object> parameters =
        new ArrayList<>(List.of(clock.millis(), store, upload.id(), upload.base()));
    from.forEach(state -> parameters.add(state.label()));
    return database.commit(
        List.of(
            Statement.of(
                """
                UPDATE blob_upload SET state = 'aborting', epoch = epoch + 1, changed_at = ?
                WHERE store = ? AND upload = ? AND base = ? AND state IN (%s)\
                """
                    .formatted(String.join(", ", from.stream().map(one -> "?").toList())),
                parameters.toArray())));
  }

  /**
   * Deletes the rows of an upload whose objects are deleted; another process may have done so
   * before.
   */
  Future<Void> deleteUpload(UploadRow upload) {
    return database.commit(
        List.of(
            Statement.of(
                """
                DELETE FROM blob_part WHERE store = ? AND upload = ? AND EXISTS (
                SELECT 1 FROM blob_upload
                WHERE store = ? AND upload = ? AND base = ? AND state = 'aborting')\
                """,
                store,
                upload.id(),
                store,
                upload.id(),
                upload.base()),
            Statement.of(
                """
                DELETE FROM blob_upload
                WHERE store = ? AND upload = ? AND base = ? AND state = 'aborting'\
                """,
                store,
                upload.id(),
                upload.base())));
  }

  Future<Optional<Blob>> blob(String key) {
    return database.readFirst(
        "SELECT object, bytes FROM blob WHERE store = ? AND blob_key = ?",
        List.of(store, key),
        row -> new Blob(row.text("object"), row.integer("bytes")));
  }

  /** A blob's row has changed since it was read. */
  private static final class BlobChangedException extends RuntimeException {
    BlobChangedException() {
      super("the blob changed after it was read", null, false, false);
    }
  }

  /** Restarts a blob's age now. Returns false if there is no such blob. */
  Future<Boolean> renew(String key) {
    return blob(key)
        .compose(
            found ->
                found.isEmpty()
                    ? Future.succeededFuture(false)
                    : unlessChanged(
                        database
                            .commit(
                                List.of(
                                    Statement.guarded(
                                        BlobChangedException::new,
                                        """
                                        UPDATE blob SET stored_at = ?
                                        WHERE store = ? AND blob_key = ?\
                                        """,
                                        clock.millis(),
                                        store,
                                        key)))
                            .map(true),
                        false));
  }

  private static <T> Future<T> unlessChanged(Future<T> commit, T otherwise) {
    return commit.recover(
        e ->
            e instanceof BlobChangedException
                ? Future.succeededFuture(otherwise)
                : Future.failedFuture(e));
  }

  /**
   * Removes a blob and lists its object as a piece without an upload until the object is deleted.
   * Does nothing if the key has another object or if the blob's age was restarted.
   *
   * @param before the blob stays if its age began at this time or later
   * @return the object to delete
   */
  Future<Optional<Piece>> detachBlob(String key, Blob blob, long before) {
    Piece orphan = new Piece(NO_UPLOAD, blob.object(), 0, blob.bytes());
    return unlessChanged(
        database
            .commit(
                List.of(
                    Statement.guarded(
                        BlobChangedException::new,
                        """
                        DELETE FROM blob
                        WHERE store = ? AND blob_key = ? AND object = ? AND stored_at < ?\
                        """,
                        store,
                        key,
                        blob.object(),
                        before),
                    Statement.of(
                        """
                        INSERT INTO blob_piece (store, object, upload, start, bytes, kept, made_at)
                        VALUES (?, ?, ?, 0, ?, 1, ?) ON CONFLICT (store, object) DO NOTHING\
                        """,
                        store,
                        blob.object(),
                        NO_UPLOAD,
                        blob.bytes(),
                        clock.millis())))
            .map(Optional.of(orphan)),
        Optional.empty());
  }
}
