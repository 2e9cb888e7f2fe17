package dev.bourse.blob.s3;

import dev.bourse.blob.UploadBusy;
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

/** What the database knows of one object store: uploads, their parts and pieces, and blobs. */
final class S3Rows {
  /** The name of no upload, as a name is not empty. */
  private static final String NO_UPLOAD = "";

  private final Database database;
  private final String store;
  private final Clock clock;

  /**
   * @param store the store's name, which all its rows have
   */
  S3Rows(Database database, String store, Clock clock) {
    this.database = database;
    this.store = store;
    this.clock = clock;
  }

  /** How far an upload is. */
  enum State {
    /** Takes bytes. */
    OPEN,
    /** All parts are there and their completion may have been asked for. Nothing aborts it. */
    COMPLETING,
    /** Its object is whole. */
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
   * @param base what its objects' names begin with; no other upload has it, not even one that
   *     begins anew under the same name
   * @param epoch how often it was opened; an object made by an opening ends in its epoch
   * @param object its object, once there is one
   * @param multipart the store's id of it; null until a first part is sent
   * @param bytes its length, from {@link State#COMPLETING} on
   */
  record Upload(
      String id,
      String base,
      int epoch,
      State state,
      @Nullable String object,
      @Nullable String multipart,
      long bytes) {
    /** What this opening calls the object it makes. */
    String objectOfEpoch(int one) {
      return base + '.' + one;
    }

    /** Whether an object, or a piece, is its: the names of both have the base in them. */
    boolean has(String name) {
      return name.contains(base + '.');
    }

    /** Whether another row tells of the same upload, and not of a later one of its name. */
    boolean isSame(Upload other) {
      return other.base.equals(base);
    }

    /** Whether another row is of the same opening. */
    boolean isSameOpening(Upload other) {
      return isSame(other) && other.epoch == epoch;
    }

    /** Whether it is this opening's still; what is complete does not change for anybody. */
    boolean isCurrent(Upload now) {
      return isSameOpening(now)
          || (state == State.COMPLETE && now.state == state && Objects.equals(now.object, object));
    }

    /** The same with no multipart upload begun. */
    Upload anew() {
      return new Upload(id, base, epoch, state, null, null, bytes);
    }

    Upload begun(String madeObject, String id) {
      return new Upload(this.id, base, epoch, state, madeObject, id, bytes);
    }

    Upload in(State next, String madeObject, long all) {
      return new Upload(id, base, epoch, next, madeObject, multipart, all);
    }
  }

  /** A part the store has taken. */
  record Part(int number, String tag, long bytes) {}

  /**
   * An object that keeps a part of an upload's tail.
   *
   * @param start where in the upload it begins
   */
  record Piece(String upload, String object, long start, long bytes) {
    long end() {
      return start + bytes;
    }
  }

  /** A blob's object. */
  record Blob(String object, long bytes) {}

  private static UploadBusy taken(String upload) {
    return new UploadBusy("another process has upload " + upload);
  }

  /**
   * Opens an upload: makes it, or takes it over. Fails with {@link UploadBusy} as it ends.
   *
   * @param base what its objects are called if it is new; never used before
   */
  Future<Upload> open(String id, String base) {
    return find(id)
        .compose(
            found -> {
              if (found.isPresent() && found.get().state() == State.ABORTING) {
                throw new UploadBusy("upload " + id + " is being abandoned");
              }
              int epoch = found.map(Upload::epoch).orElse(0) + 1;
              String begun = found.map(Upload::base).orElse(base);
              return database
                  .commit(List.of(opening(id, begun, epoch)))
                  .compose(opened -> find(id))
                  .map(
                      now ->
                          now.filter(row -> row.base().equals(begun) && row.epoch() == epoch)
                              .orElseThrow(() -> taken(id)));
            });
  }

  /** Two that open at once would raise the same epoch: one of them fails, and has to ask again. */
  private Statement opening(String id, String base, int epoch) {
    long now = clock.millis();
    return epoch == 1
        ? Statement.guarded(
            () -> taken(id),
            """
            INSERT INTO blob_upload (store, upload, base, epoch, state, bytes, changed_at)
            VALUES (?, ?, ?, 1, 'open', 0, ?) ON CONFLICT (store, upload) DO NOTHING\
            """,
            store,
            id,
            base,
            now)
        : Statement.guarded(
            () -> taken(id),
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
            now + 2 * Finishing.HELD_MILLIS);
  }

  /**
   * Has others leave an upload alone that this opening is at the end of. What is said of a time far
   * off was said by a clock that is wrong, and keeps nobody away.
   *
   * @param untilMillis 0 for no longer
   */
  Future<Void> finishing(Upload upload, long untilMillis) {
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

  Future<Optional<Upload>> find(String id) {
    return database.readFirst(
        """
        SELECT upload, base, epoch, state, object, multipart_id, bytes FROM blob_upload
        WHERE store = ? AND upload = ?\
        """,
        List.of(store, id),
        S3Rows::upload);
  }

  private static Upload upload(Row row) {
    return new Upload(
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
   * Pieces of an upload whose objects are there, by their beginning, the longest first. One that
   * was begun before or after under the same name has others, as its objects have another base.
   */
  Future<List<Piece>> keptPieces(Upload upload) {
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

  /** What every commit of an opening begins with: it is still the one that has the upload. */
  private Statement mine(Upload upload, State from) {
    return Statement.guarded(
        () -> taken(upload.id()),
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

  /** The store made a multipart upload. */
  Future<Void> begun(Upload upload, String object, String multipart) {
    return database.commit(
        List.of(
            mine(upload, State.OPEN),
            Statement.of(
                """
                UPDATE blob_upload SET object = ?, multipart_id = ? WHERE store = ? AND upload = ?\
                """,
                object,
                multipart,
                store,
                upload.id())));
  }

  /** The store took a part. Sent once more, its later tag counts. */
  Future<Void> sent(Upload upload, Part part) {
    return database.commit(
        List.of(
            mine(upload, State.OPEN),
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

  /** An object is about to be made for a piece. */
  Future<Void> keeping(Upload upload, Piece piece) {
    return database.commit(
        List.of(
            mine(upload, State.OPEN),
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

  /** The piece's object is there. */
  Future<Void> kept(Upload upload, Piece piece) {
    return database.commit(
        List.of(
            mine(upload, State.OPEN),
            Statement.of(
                "UPDATE blob_piece SET kept = 1 WHERE store = ? AND object = ?",
                store,
                piece.object())));
  }

  /** The piece's object is deleted. */
  Future<Void> forget(Piece piece) {
    return database.commit(List.of(deletion(piece)));
  }

  /** All parts are there; from here on nothing aborts. */
  Future<Void> completing(Upload upload, long bytes) {
    return database.commit(
        List.of(
            mine(upload, State.OPEN),
            Statement.of(
                """
                UPDATE blob_upload SET state = 'completing', bytes = ?
                WHERE store = ? AND upload = ?\
                """,
                bytes,
                store,
                upload.id())));
  }

  /** The multipart upload's object is whole, whoever learns of it first. */
  Future<Void> completed(Upload upload) {
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

  /** The object of an upload of less than a part was made at once. */
  Future<Void> completed(Upload upload, Piece whole) {
    return database.commit(
        List.of(
            mine(upload, State.OPEN),
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

  /** Fails with {@link UploadBusy} when another opening has the upload. */
  Future<Void> requireMine(Upload upload) {
    return database.commit(List.of(mine(upload, State.OPEN)));
  }

  /** Gives the complete upload's object to a key; with this commit it is readable. */
  Future<Void> publish(Upload upload, String key) {
    return database.commit(
        List.of(
            Statement.guarded(
                () -> taken(upload.id()),
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
   * Begins to end an upload, whoever has it open. Nothing happens to one that is completing.
   *
   * @param from the states it may be in
   */
  Future<Void> abort(Upload upload, List<State> from) {
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

  /** An upload's objects are deleted; another process may have come to that end before. */
  Future<Void> aborted(Upload upload) {
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

  /** A blob's row is not as it was when it was read. */
  private static final class BlobChangedException extends RuntimeException {
    BlobChangedException() {
      super("the blob changed meanwhile", null, false, false);
    }
  }

  /** Has a blob's age begin now; returns whether there is one. */
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
   * Takes a blob's object from its key, and lists it as a piece of no upload until it is deleted.
   * Does nothing if the key has another object by now, or its age began again.
   *
   * @param before the blob stays if its age began then or later
   * @return the object to delete
   */
  Future<Optional<Piece>> deleted(String key, Blob blob, long before) {
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
