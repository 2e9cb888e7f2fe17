package dev.bourse.blob.s3;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Inspector;
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
   * Fills the spool with the pieces of an earlier opening.
   *
   * @param found by their beginning, the longest first
   * @param sent where they begin
   */
  Future<Void> restore(List<S3Rows.Piece> found, long sent, Inspector inspector) {
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
    return tools
        .workers()
        .longCall(
            () -> {
              for (S3Rows.Piece piece : pieces) {
                restore(piece, inspector);
              }
              return null;
            });
  }

  private void restore(S3Rows.Piece piece, Inspector inspector) {
    byte[] bytes = new byte[BlobStore.BLOCK_BYTES];
    long left = piece.bytes();
    try (InputStream source = tools.calls().get(piece.object(), 0, piece.bytes())) {
      while (left > 0) {
        int read = source.read(bytes, 0, (int) Math.min(bytes.length, left));
        if (read < 0) {
          throw new IOException("it is shorter than " + piece.bytes() + " bytes");
        }
        inspector.inspect(bytes, 0, read);
        spool.write(bytes, 0, read);
        left -= read;
      }
    } catch (IOException e) {
      throw new StorageFault("cannot read " + piece.object(), e);
    }
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
    boolean isWhole = pieces.size() >= MOST_PIECES;
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
              tools
                  .calls()
                  .put(piece.object(), piece.bytes(), () -> spool.read(from, piece.bytes()));
              return null;
            });
  }

  /** Its bytes are kept in another way. */
  void clear() {
    tools.completion().forget(List.copyOf(pieces));
    pieces.clear();
  }
}
