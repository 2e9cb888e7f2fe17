package dev.bourse.client.transfer;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Runs the same work on several items, some at a time. */
final class Parallel {
  /**
   * After a refusal that an item is gone, the time to wait for a more informative refusal of
   * another.
   */
  private static final long TELLING_MILLIS = 2_000;

  /** Longer than an interrupted transfer takes to end. */
  private static final long END_SECONDS = 10;

  private Parallel() {}

  /** The work on one item. */
  @FunctionalInterface
  interface Work<T> {
    void on(T thing) throws RefusedException;
  }

  /**
   * Runs the work on all items; the first refusal interrupts the others and prevents further ones.
   *
   * @param width the number of concurrent items
   */
  static <T> void each(int width, List<T> things, Work<T> work) throws RefusedException {
    ExecutorService threads = Executors.newFixedThreadPool(width, Parallel::thread);
    CompletionService<Boolean> done = new ExecutorCompletionService<>(threads);
    AtomicBoolean isOver = new AtomicBoolean();
    for (T thing : things) {
      Callable<Boolean> one =
          () -> {
            if (!isOver.get()) {
              work.on(thing);
            }
            return true;
          };
      done.submit(one);
    }
    try {
      for (int left = things.size(); left > 0; left--) {
        Optional<RefusedException> refused = refusal(done.take());
        if (refused.isPresent()) {
          isOver.set(true);
          throw refused.get().is("gone")
              ? mostTelling(refused.get(), done, left - 1)
              : refused.get();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RefusedException(ExitCode.UNAVAILABLE, "interrupted");
    } finally {
      end(threads);
    }
  }

  private static Optional<RefusedException> refusal(Future<Boolean> ended)
      throws InterruptedException {
    try {
      ended.get();
      return Optional.empty();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RefusedException refused) {
        return Optional.of(refused);
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  /**
   * A failure of one item ends the session, so that the others only see that it is gone: returns
   * the refusal that explains more.
   */
  private static RefusedException mostTelling(
      RefusedException gone, CompletionService<Boolean> done, int others)
      throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TELLING_MILLIS);
    for (int left = others; left > 0; left--) {
      Future<Boolean> ended = done.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (ended == null) {
        break;
      }
      Optional<RefusedException> other =
          refusal(ended).filter(r -> !r.is("gone") && !r.isTransient());
      if (other.isPresent()) {
        return other.get();
      }
    }
    return gone;
  }

  private static Thread thread(Runnable work) {
    Thread thread = new Thread(work, "file");
    thread.setDaemon(true);
    return thread;
  }

  /** Waits for interrupted work before the caller continues, so that nothing runs beside it. */
  private static void end(ExecutorService threads) {
    threads.shutdownNow();
    try {
      threads.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
