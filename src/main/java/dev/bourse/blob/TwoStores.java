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
 * A store and the one before it, whose blobs are still read and are deleted with their items, and
 * which takes no new ones. An upload that was under way there begins anew here.
 *
 * <p>A blob may be in both: somebody moves it. So the former is asked behind the store, and the
 * store once more behind that, for the blob may have gone from one to the other meanwhile.
 *
 * <p>Uploads and blobs are listed of the store alone. What no row knows of in the former one is
 * given up with it.
 */
public final class TwoStores implements BlobStore {
  private final BlobStore store;
  private final BlobStore former;

  public TwoStores(BlobStore store, BlobStore former) {
    this.store = store;
    this.former = former;
  }

  /** The one that takes new blobs. */
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

  /** Also when an earlier process published this in the former store and did not hear of it. */
  @Override
  public Future<Void> publish(String uploadId, String key) {
    return store
        .publish(uploadId, key)
        .recover(
            e ->
                e instanceof BlobGone
                    ? former
                        .exists(key)
                        .compose(is -> is ? Future.succeededFuture() : Future.<Void>failedFuture(e))
                    : Future.failedFuture(e));
  }

  @Override
  public Future<Void> abandon(String uploadId) {
    return store.abandon(uploadId).compose(done -> former.abandon(uploadId));
  }

  /** In the former store first: what is in neither is not moved any more. */
  @Override
  public Future<Void> delete(String key, Instant before) {
    return former.delete(key, before).compose(done -> store.delete(key, before));
  }

  @Override
  public Future<Boolean> exists(String key) {
    return either(
            () -> store.exists(key).compose(TwoStores::elseGone),
            () -> former.exists(key).compose(TwoStores::elseGone))
        .recover(
            e -> e instanceof BlobGone ? Future.succeededFuture(false) : Future.failedFuture(e));
  }

  private static Future<Boolean> elseGone(boolean exists) {
    return exists ? Future.succeededFuture(true) : Future.failedFuture(new BlobGone("not here"));
  }

  @Override
  public Future<Reading> read(String key) {
    return either(() -> store.read(key), () -> former.read(key));
  }

  /** A blob may be in either. */
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
    return tried.recover(e -> e instanceof BlobGone ? other.get() : Future.failedFuture(e));
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
