package dev.bourse.blob.s3;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.StorageFault;
import io.vertx.core.Future;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * The bytes behind an upload's last part as pieces in the store, where another opening finds them.
 * Used by one step at a time.
 */
final class Tail {
  /**
   * From so many pieces on the whole tail is kept as one: each opening reads few objects, one after
   * another, and of a client whose requests are blocks of 256 KiB the store takes each byte no more
   * than six times.
   */
  private static final int MOST_PIECES = 8;

  private final Tools tools;
  private final Spool spool;
  private final List<S3Rows.Piece> pieces = new ArrayList<>();
  private int made;

  Tail(Tools tools, Spool spool) {
    this.tools = tools;
    this.spool = spool;
  }

  /**
   * Takes the pieces of an earlier opening. Their bytes stay where they are until {@link #fill}:
   * whoever takes over an upload and brings little, or leaves again, costs the store nothing.
   *
   * @param found by their beginning, the longest first
   * @param sent where they begin
   */
  void takeOver(List<S3Rows.Piece> found, long sent) {
    List<S3Rows.Piece> useless = new ArrayList<>();
    long end = sent;
    for (S3Rows.Piece piece : found) {
      if (piece.start() == end) {
        pieces.add(piece);
        end = piece.end();
      } else {
        useless.add(piece);
      }
    }
    tools.completion().forget(useless);
    spool.beginBehind(end - sent);
  }

  /**
   * Has the spool hold the bytes that were taken over, so that all of it can be sent.
   *
   * @param sent where the spool begins
   */
  Future<Void> fill(long sent) {
    long here = sent + spool.missing();
    if (here == sent) {
      return Future.succeededFuture();
    }
    return tools
        .workers()
        .longCall(
            () -> {
              for (S3Rows.Piece piece : pieces) {
                if (piece.start() < here) {
                  fillIn(piece, piece.start() - sent);
                }
              }
              spool.filledIn();
              return null;
            });
  }

  private void fillIn(S3Rows.Piece piece, long from) {
    byte[] bytes = new byte[BlobStore.BLOCK_BYTES];
    long at = from;
    long left = piece.bytes();
    try (InputStream source = tools.calls().get(piece.object(), 0, piece.bytes())) {
      while (left > 0) {
        int read = source.read(bytes, 0, (int) Math.min(bytes.length, left));
        if (read < 0) {
          throw new IOException("it is shorter than " + piece.bytes() + " bytes");
        }
        spool.fillIn(bytes, read, at);
        at += read;
        left -= read;
      }
    } catch (IOException e) {
      throw new StorageFault("cannot read " + piece.object(), e);
    }
  }

  /** Whether what is kept next is kept with all before it, which has to be here then. */
  boolean isOfMany() {
    return pieces.size() >= MOST_PIECES;
  }

  /**
   * Keeps what is in the spool and not in a piece yet.
   *
   * @param sent where the spool begins
   */
  Future<Void> keep(S3Rows.Upload row, long sent) {
    long kept = pieces.isEmpty() ? sent : pieces.get(pieces.size() - 1).end();
    if (kept == sent + spool.length()) {
      return Future.succeededFuture();
    }
    boolean isWhole = isOfMany();
    long start = isWhole ? sent : kept;
    S3Rows.Piece piece =
        new S3Rows.Piece(
            row.id(),
            "pieces/%s.%s.%s".formatted(row.base(), row.epoch(), ++made),
            start,
            sent + spool.length() - start);
    return tools
        .rows()
        .keeping(row, piece)
        .compose(named -> put(piece, start - sent))
        .compose(
            there ->
                tools
                    .rows()
                    .kept(row, piece)
                    .onFailure(
                        e ->
                            tools.completion().undo(e, () -> tools.calls().delete(piece.object()))))
        .onSuccess(
            known -> {
              if (isWhole) {
                clear();
              }
              pieces.add(piece);
            });
  }

  private Future<Void> put(S3Rows.Piece piece, long from) {
    return tools
        .workers()
        .longCall(
            () -> {
              tools.calls().put(piece.object(), spool.read(from, piece.bytes()));
              return null;
            });
  }

  /** Its bytes are kept in another way. */
  void clear() {
    tools.completion().forget(List.copyOf(pieces));
    pieces.clear();
  }
}
