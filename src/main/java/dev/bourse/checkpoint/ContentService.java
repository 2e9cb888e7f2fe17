package dev.bourse.checkpoint;

import dev.bourse.blob.BlobGone;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Reading;
import dev.bourse.core.ApiError;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Bytes;
import dev.bourse.edge.Call;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.channels.FileChannel;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Serves stored bytes, to whomever they are for, in the one way that is safe for strangers' files.
 */
public final class ContentService {
  /** A revision replaced between look-up and opening is looked up again; not for ever. */
  private static final int ATTEMPTS = 3;

  private final BlobStore blobs;

  public ContentService(BlobStore blobs) {
    this.blobs = blobs;
  }

  /**
   * The bytes of one revision; fails as the finding does, and with {@code conflict} {@code
   * object-missing} when no bytes are complete.
   *
   * @param finding the item, looked up anew when its bytes are gone meanwhile
   * @param choosing which of its revisions
   */
  public Future<Answer> answer(
      Supplier<Future<CheckpointStore.Listed>> finding,
      Function<Checkpoint, Revision> choosing,
      Call call) {
    boolean download = call.findText("download").orElse("0").equals("1");
    return open(finding, choosing, ATTEMPTS)
        .map(
            opened -> {
              Facts facts = opened.revision.facts();
              return new Answer.Download(
                  opened.bytes,
                  facts.contentType(),
                  '"' + String.valueOf(opened.revision.sha256()) + '"',
                  ContentHeaders.of(facts, download));
            });
  }

  /** A revision and its bytes. */
  private record Opened(Revision revision, Bytes bytes) {}

  private Future<Opened> open(
      Supplier<Future<CheckpointStore.Listed>> finding,
      Function<Checkpoint, Revision> choosing,
      int left) {
    return finding
        .get()
        .compose(
            found -> {
              Checkpoint item = found.item();
              Revision revision = choosing.apply(item);
              String sha256 = revision.sha256();
              if (sha256 == null) {
                throw missing(item, revision);
              }
              return blobs
                  .read(BlobName.key(item.id(), revision.number(), sha256))
                  .map(reading -> new Opened(revision, bytes(reading)))
                  .recover(
                      e ->
                          e instanceof BlobGone && left > 1
                              ? open(finding, choosing, left - 1)
                              : Future.failedFuture(
                                  e instanceof BlobGone ? missing(item, revision) : e));
            });
  }

  private static ApiError missing(Checkpoint item, Revision revision) {
    return Refusal.OBJECT_MISSING.of(
        "the bytes of revision " + revision.number() + " of " + item.id() + " are not there");
  }

  private static Bytes bytes(Reading reading) {
    return new Bytes() {
      @Override
      public long length() {
        return reading.length();
      }

      @Override
      public Optional<FileChannel> file() {
        return reading.file();
      }

      @Override
      public Future<Buffer> piece(long offset, int length) {
        return reading.piece(offset, length);
      }

      @Override
      public void close() {
        reading.close();
      }
    };
  }
}
