package dev.bourse.client.transfer;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs a transfer in its own thread, draws its progress, and ends it when it stalls. */
final class StallWatchdog {
  /** A connection without any progress for this long is closed. */
  static final Duration STALL = Duration.ofSeconds(60);

  private static final Duration END = Duration.ofSeconds(5);

  private static final long LOOK_MILLIS = 50;

  private StallWatchdog() {}

  /**
   * Runs the work.
   *
   * @throws RefusedException by the work itself, or because it stalled
   */
  static <T> T run(Transfer progress, Callable<T> work) throws RefusedException {
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
            throw new RefusedException(
                ExitCode.UNAVAILABLE,
                "no data was transferred for %d s".formatted(STALL.toSeconds()));
          }
        }
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RefusedException refused) {
        throw refused;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RefusedException(ExitCode.UNAVAILABLE, "interrupted");
    } finally {
      end(task, worker);
    }
  }

  /** Ends the thread, so that the next attempt does not run beside it. */
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
