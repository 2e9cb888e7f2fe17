package dev.bourse.client.transfer;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.Refused;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs a transfer in a thread of its own, draws its progress, and ends it when it stalls. */
final class StallWatchdog {
  /** A connection on which nothing moves for so long is given up. */
  static final Duration STALL = Duration.ofSeconds(60);

  private static final Duration END = Duration.ofSeconds(5);

  private static final long LOOK_MILLIS = 50;

  private StallWatchdog() {}

  /**
   * Does the work.
   *
   * @throws Refused of the work itself, or because it stalled
   */
  static <T> T over(Transfer progress, Callable<T> work) throws Refused {
    FutureTask<T> task = new FutureTask<>(work);
    Thread worker = new Thread(task, "transfer");
    worker.setDaemon(true);
    progress.rest();
    worker.start();
    try {
      while (true) {
        try {
          return task.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
          progress.draw();
          if (progress.stillness().compareTo(STALL) > 0) {
            throw new Refused(
                ExitCode.UNAVAILABLE,
                "no data was transferred for %d s".formatted(STALL.toSeconds()));
          }
        }
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
      end(task, worker);
    }
  }

  /** Ends the thread, so that the next try does not run beside this one. */
  private static void end(FutureTask<?> task, Thread worker) {
    if (task.isDone()) {
      return;
    }
    task.cancel(true);
    try {
      worker.join(END.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
