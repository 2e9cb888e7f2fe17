package dev.bourse.simulation;

import dev.bourse.blob.BlobGone;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Inspector;
import dev.bourse.blob.Reading;
import dev.bourse.blob.Upload;
import dev.bourse.core.Page;
import io.vertx.core.Future;
import java.time.Instant;
import java.util.List;

/** A store of bytes that has none. */
final class MemoryBlobs implements BlobStore {
  static Future<BlobStore> open() {
    return Future.succeededFuture(new MemoryBlobs());
  }

  @Override
  public Future<Upload> open(String uploadId, Inspector inspector) {
    return Future.failedFuture(new BlobGone("no uploads here"));
  }

  @Override
  public Future<Long> stored(String uploadId) {
    return Future.succeededFuture(0L);
  }

  @Override
  public Future<Void> publish(String uploadId, String key) {
    return Future.failedFuture(new BlobGone("no uploads here"));
  }

  @Override
  public Future<Void> abandon(String uploadId) {
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> delete(String key) {
    return Future.succeededFuture();
  }

  @Override
  public Future<Boolean> exists(String key) {
    return Future.succeededFuture(false);
  }

  @Override
  public Future<Reading> read(String key) {
    return Future.failedFuture(new BlobGone("no blobs here"));
  }

  @Override
  public Future<Page<String>> listUploads(Instant before, String after, int limit) {
    return Future.succeededFuture(Page.of(List.of(), limit));
  }

  @Override
  public Future<Page<String>> listBlobs(Instant before, String after, int limit) {
    return Future.succeededFuture(Page.of(List.of(), limit));
  }

  @Override
  public Future<Void> close() {
    return Future.succeededFuture();
  }
}
