package dev.bourse.store;

import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs work on each of many items, a bounded number at a time. Writes for a whole fleet submitted
 * at once would fill the store's queue, and most of them and other requests would be rejected.
 */
public final class BoundedWork<T, U> {
  /** Enough for commits to share a flush, and a small part of the store's queue. */
  public static final int AT_ONCE = 64;

  private final Iterator<T> left;
  private final int atOnce;
  private final boolean endsWithFailure;
  private final Function<T, Future<U>> work;
  private final Promise<Void> done = Promise.promise();
  private final AtomicInteger underWay = new AtomicInteger();

  /**
   * Above 0 while a thread starts more work; an item that ends in the meantime makes that thread
   * check again.
   */
  private final AtomicInteger calls = new AtomicInteger();

  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

  private BoundedWork(
      Iterator<T> left, int atOnce, boolean endsWithFailure, Function<T, Future<U>> work) {
    this.left = left;
    this.atOnce = atOnce;
    this.endsWithFailure = endsWithFailure;
    this.work = work;
  }

  /**
   * Runs the work for each item, {@link #AT_ONCE} at a time. A failure does not stop the other
   * items; the future fails with one of the failures after all have ended.
   *
   * @param all the items; the next one is requested when it can start
   */
  public static <T, U> Future<Void> each(Iterator<T> all, Function<T, Future<U>> work) {
    return each(all, AT_ONCE, work);
  }

  /** Runs the work for each item, {@code atOnce} at a time. */
  public static <T, U> Future<Void> each(Iterator<T> all, int atOnce, Function<T, Future<U>> work) {
    return begun(new BoundedWork<>(all, atOnce, false, work));
  }

  /** Runs the work until one item fails; starts no further items after that. */
  public static <T, U> Future<Void> untilFailure(
      Iterator<T> all, int atOnce, Function<T, Future<U>> work) {
    return begun(new BoundedWork<>(all, atOnce, true, work));
  }

  /**
   * Runs the work for one item after another, until one fails. A long chain of futures would do the
   * same, but a failure would run through all of it on one deep stack.
   */
  public static <T, U> Future<Void> inTurn(Iterable<T> all, Function<T, Future<U>> work) {
    return untilFailure(all.iterator(), 1, work);
  }

  private static Future<Void> begun(BoundedWork<?, ?> bounded) {
    bounded.beginMore();
    return bounded.done.future();
  }

  private boolean isMore() {
    return !(endsWithFailure && failure.get() != null) && left.hasNext();
  }

  /**
   * Starts items, in one thread at a time and in a loop: work that ends at once must not deepen the
   * stack, and items may end on any thread.
   */
  private void beginMore() {
    if (calls.getAndIncrement() > 0) {
      return;
    }
    int seen = 1;
    while (seen > 0) {
      while (underWay.get() < atOnce && isMore()) {
        underWay.incrementAndGet();
        Future.succeededFuture(left.next()).compose(work).onComplete(this::ended);
      }
      if (underWay.get() == 0 && !isMore()) {
        finish();
      }
      seen = calls.addAndGet(-seen);
    }
  }

  private void ended(AsyncResult<U> result) {
    if (result.failed()) {
      failure.compareAndSet(null, result.cause());
    }
    underWay.decrementAndGet();
    beginMore();
  }

  private void finish() {
    Throwable cause = failure.get();
    if (cause == null) {
      done.tryComplete();
    } else {
      done.tryFail(cause);
    }
  }
}
