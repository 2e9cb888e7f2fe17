package dev.bourse.client.transfer;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.Refused;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Does the same to several things, some at a time. */
final class Parallel {
  /** Longer than a transfer takes to end once it is interrupted. */
  private static final long END_SECONDS = 10;

  private Parallel() {}

  /** What is done to one. */
  @FunctionalInterface
  interface Work<T> {
    void on(T thing) throws Refused;
  }

  /**
   * Does it to all; the first refusal ends what is under way, and nothing is begun after it.
   *
   * @param width how many at a time
   */
  static <T> void each(int width, List<T> things, Work<T> work) throws Refused {
    ExecutorService threads = Executors.newFixedThreadPool(width, Parallel::thread);
    CompletionService<Boolean> done = new ExecutorCompletionService<>(threads);
    List<Future<Boolean>> begun = new ArrayList<>();
    for (T thing : things) {
      Callable<Boolean> one =
          () -> {
            work.on(thing);
            return true;
          };
      begun.add(done.submit(one));
    }
    try {
      for (int i = 0; i < begun.size(); i++) {
        done.take().get();
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Refused refused) {
        throw refused;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Refused(ExitCode.UNAVAILABLE, "interrupted");
    } finally {
      end(threads);
    }
  }

  private static Thread thread(Runnable work) {
    Thread thread = new Thread(work, "file");
    thread.setDaemon(true);
    return thread;
  }

  /** What is under way ends before whoever called goes on, so that nothing runs beside that. */
  private static void end(ExecutorService threads) {
    threads.shutdownNow();
    try {
      threads.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
