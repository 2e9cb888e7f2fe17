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
 * Work on each of many things, a bounded number under way at a time. A fleet's worth of writes
 * submitted at once would fill the store's queue: most of it would be refused, and so would
 * requests.
 */
public final class BoundedWork<T, U> {
  /** Enough for commits to share a flush; little beside what the store lets wait. */
  public static final int AT_ONCE = 64;

  private final Iterator<T> left;
  private final int atOnce;
  private final boolean endsWithFailure;
  private final Function<T, Future<U>> work;
  private final Promise<Void> done = Promise.promise();
  private final AtomicInteger underWay = new AtomicInteger();

  /** Above 0 while a thread begins more; what ends meanwhile has it look again. */
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
   * Does it for each, {@link #AT_ONCE} at a time. One that fails keeps no other from being tried;
   * fails as one of those that did, once all have ended.
   *
   * @param all asked for the next when there is room for it
   */
  public static <T, U> Future<Void> each(Iterator<T> all, Function<T, Future<U>> work) {
    return each(all, AT_ONCE, work);
  }

  /** The same, so many at a time. */
  public static <T, U> Future<Void> each(Iterator<T> all, int atOnce, Function<T, Future<U>> work) {
    return begun(new BoundedWork<>(all, atOnce, false, work));
  }

  /** The same until one fails: nothing is begun after that. */
  public static <T, U> Future<Void> untilFailure(
      Iterator<T> all, int atOnce, Function<T, Future<U>> work) {
    return begun(new BoundedWork<>(all, atOnce, true, work));
  }

  /**
   * Does it for one after the other, until one fails. A chain of futures would do the same and end,
   * where it is long, in a stack as deep: a failure runs through all of it at once.
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
   * By one thread at a time, in a loop: work that ends at once must not become a deep stack, and
   * ends may come on any thread.
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
