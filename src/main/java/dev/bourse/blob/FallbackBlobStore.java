package dev.bourse.blob;

import dev.bourse.core.Page;
import io.vertx.core.Future;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A store with a former store behind it, used while blobs move from the former store. The former
 * store still serves and deletes its blobs but takes no new ones. An upload that was open there
 * restarts here.
 *
 * <p>While blobs are moved, a blob may be in both stores. A read asks the store, then the former
 * store, then the store again, because the blob may have moved between the first two questions.
 *
 * <p>Lists cover the new store only. Unreferenced uploads and blobs of the former store are
 * discarded together with it.
 */
public final class FallbackBlobStore implements BlobStore {
  private final BlobStore store;
  private final BlobStore former;

  public FallbackBlobStore(BlobStore store, BlobStore former) {
    this.store = store;
    this.former = former;
  }

  /** Returns the store that takes new blobs. */
  public BlobStore store() {
    return store;
  }

  public BlobStore former() {
    return former;
  }

  @Override
  public Future<Upload> open(String uploadId, Inspector inspector) {
    return store.open(uploadId, inspector);
  }

  @Override
  public Future<Long> stored(String uploadId) {
    return store.stored(uploadId);
  }

  /**
   * Publishes the upload, and also succeeds if an earlier process published it in the former store
   * without learning the outcome.
   */
  @Override
  public Future<Void> publish(String uploadId, String key) {
    return store
        .publish(uploadId, key)
        .recover(
            e ->
                e instanceof BlobNotFoundException
                    ? former
                        .exists(key)
                        .compose(is -> is ? Future.succeededFuture() : Future.<Void>failedFuture(e))
                    : Future.failedFuture(e));
  }

  @Override
  public Future<Void> abandon(String uploadId) {
    return store.abandon(uploadId).compose(done -> former.abandon(uploadId));
  }

  /**
   * Deletes in the former store first, because a blob that is in neither store cannot be moved any
   * more.
   */
  @Override
  public Future<Void> delete(String key, Instant before) {
    return former.delete(key, before).compose(done -> store.delete(key, before));
  }

  @Override
  public Future<Boolean> exists(String key) {
    return either(
            () -> store.exists(key).compose(FallbackBlobStore::elseGone),
            () -> former.exists(key).compose(FallbackBlobStore::elseGone))
        .recover(
            e ->
                e instanceof BlobNotFoundException
                    ? Future.succeededFuture(false)
                    : Future.failedFuture(e));
  }

  private static Future<Boolean> elseGone(boolean exists) {
    return exists
        ? Future.succeededFuture(true)
        : Future.failedFuture(new BlobNotFoundException("not here"));
  }

  @Override
  public Future<Reading> read(String key) {
    return either(() -> store.read(key), () -> former.read(key));
  }

  /** Returns true only if both stores share readings, because a blob may be in either. */
  @Override
  public boolean sharesReadings() {
    return store.sharesReadings() && former.sharesReadings();
  }

  @Override
  public Future<Optional<URI>> address(String key, Duration lifetime, Map<String, String> headers) {
    return either(
        () -> store.address(key, lifetime, headers), () -> former.address(key, lifetime, headers));
  }

  private static <T> Future<T> either(Supplier<Future<T>> here, Supplier<Future<T>> before) {
    return ifGone(ifGone(here.get(), before), here);
  }

  private static <T> Future<T> ifGone(Future<T> tried, Supplier<Future<T>> other) {
    return tried.recover(
        e -> e instanceof BlobNotFoundException ? other.get() : Future.failedFuture(e));
  }

  @Override
  public Future<Page<String>> listUploads(Instant before, String after, int limit) {
    return store.listUploads(before, after, limit);
  }

  @Override
  public Future<Page<String>> listBlobs(Instant before, String after, int limit) {
    return store.listBlobs(before, after, limit);
  }

  @Override
  public Future<Integer> tidy() {
    Future<Integer> here = store.tidy();
    Future<Integer> before = former.tidy();
    return Future.join(here, before).map(done -> here.result() + before.result());
  }

  @Override
  public Future<Void> close() {
    return Future.join(store.close(), former.close()).mapEmpty();
  }
}
