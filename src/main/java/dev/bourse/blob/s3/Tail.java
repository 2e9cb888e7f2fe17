package dev.bourse.blob.s3;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.StorageFaultException;
import io.vertx.core.Future;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * The bytes after an upload's last part, stored as pieces in the store, where another opening finds
 * them. Used by one step at a time.
 */
final class Tail {
  /**
   * From this number of pieces on, the whole tail is stored as one. So an opening reads few
   * objects, one after another, and the store takes each byte at most six times from a client that
   * sends blocks of 256 KiB.
   */
  private static final int MOST_PIECES = 8;

  private final S3Context context;
  private final Spool spool;
  private final List<S3Rows.Piece> pieces = new ArrayList<>();
  private int made;

  Tail(S3Context context, Spool spool) {
    this.context = context;
    this.spool = spool;
  }

  /**
   * Takes over the pieces of an earlier opening without reading them; {@link #fill} reads them. So
   * an opening that adds few bytes costs the store nothing.
   *
   * @param found ordered by offset, the longest first
   * @param sent the offset of the first piece
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
    context.completion().forget(useless);
    spool.beginBehind(end - sent);
  }

  /**
   * Loads the bytes of the pieces into the spool, so that the whole spool can be sent.
   *
   * @param sent the offset of the spool
   */
  Future<Void> fill(long sent) {
    long here = sent + spool.missing();
    if (here == sent) {
      return Future.succeededFuture();
    }
    return context
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
    try (InputStream source = context.calls().get(piece.object(), 0, piece.bytes())) {
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
      throw new StorageFaultException("cannot read " + piece.object(), e);
    }
  }

  /**
   * Returns whether the next piece replaces all earlier ones, whose bytes must be loaded for that.
   */
  boolean isOfMany() {
    return pieces.size() >= MOST_PIECES;
  }

  /**
   * Stores the bytes of the spool that are not in a piece yet.
   *
   * @param sent the offset of the spool
   */
  Future<Void> keep(S3Rows.UploadRow row, long sent) {
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
    return context
        .rows()
        .recordPendingPiece(row, piece)
        .compose(named -> put(piece, start - sent))
        .compose(
            there ->
                context
                    .rows()
                    .recordStoredPiece(row, piece)
                    .onFailure(
                        e ->
                            context
                                .completion()
                                .undo(e, () -> context.calls().delete(piece.object()))))
        .onSuccess(
            known -> {
              if (isWhole) {
                clear();
              }
              pieces.add(piece);
            });
  }

  private Future<Void> put(S3Rows.Piece piece, long from) {
    return context
        .workers()
        .longCall(
            () -> {
              context.calls().put(piece.object(), spool.read(from, piece.bytes()));
              return null;
            });
  }

  /** Discards the pieces, because their bytes are stored in a part or an object. */
  void clear() {
    context.completion().forget(List.copyOf(pieces));
    pieces.clear();
  }
}
