package dev.bourse.blob;

import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads of a local store, in three pools so that nothing slow is in front of something quick:
 * blocks on their way to the disk; stored bytes that are inspected again; and calls, among them
 * flushes and deletions that may take seconds.
 *
 * <p>No thread is ever interrupted, for that would close the file it is at.
 */
final class Workers {
  /** Calls wait for the disk and not for a core; a few at once keep it busy. */
  private static final int CALL_THREADS = 8;

  private final ExecutorService blocks;
  private final ExecutorService checks;
  private final ExecutorService calls;
  private final AtomicInteger waiting = new AtomicInteger();
  private final int waitingCalls;
  private final Context home;

  Workers(Context home, BlobConfig config) {
    this.home = home;
    waitingCalls = config.waitingCalls();
    blocks = pool("blob-block", config.threads());
    checks = pool("blob-check", Math.max(1, config.threads() / 2));
    calls = pool("blob-call", CALL_THREADS);
  }

  private static ExecutorService pool(String name, int threads) {
    AtomicInteger next = new AtomicInteger();
    return Executors.newFixedThreadPool(
        threads,
        work -> {
          Thread thread = new Thread(work, name + '-' + next.getAndIncrement());
          // An upload stands at its last whole block at any time; a process need not wait.
          thread.setDaemon(true);
          return thread;
        });
  }

  Context home() {
    return home;
  }

  /** One step of an upload: each has at most one under way, so open uploads bound this queue. */
  void block(Runnable step) {
    blocks.execute(step);
  }

  /** One slice of stored bytes; bounded in the same way. */
  void check(Runnable slice) {
    checks.execute(slice);
  }

  /** A call that is refused when too many wait. */
  <T> Future<T> call(Callable<T> call) {
    if (waiting.incrementAndGet() > waitingCalls) {
      waiting.decrementAndGet();
      return Future.failedFuture(
          new StorageBusy(
              "more calls to the blob store wait than the " + waitingCalls + " it lets"));
    }
    return run(call);
  }

  /** A call that gives something back and is not refused: what was open bounds these. */
  <T> Future<T> giveBack(Callable<T> call) {
    waiting.incrementAndGet();
    return run(call);
  }

  private <T> Future<T> run(Callable<T> call) {
    Answer<T> answer = new Answer<>(home);
    try {
      calls.execute(
          () -> {
            try {
              answer.succeed(call.call());
            } catch (Throwable e) {
              answer.fail(e);
            } finally {
              waiting.decrementAndGet();
            }
          });
    } catch (RejectedExecutionException e) {
      waiting.decrementAndGet();
      return Future.failedFuture(new StorageBusy("the blob store is closed"));
    }
    return answer.future();
  }

  /** Takes nothing more, and succeeds when all that was taken is done. */
  Future<Void> close() {
    Answer<Void> answer = new Answer<>(home);
    Thread thread =
        new Thread(
            () -> {
              try {
                for (ExecutorService pool : new ExecutorService[] {checks, blocks, calls}) {
                  pool.shutdown();
                  while (!pool.awaitTermination(1, TimeUnit.MINUTES)) {
                    // Each task is bounded by the disk; there is nothing to do but wait for it.
                  }
                }
                answer.succeed(null);
              } catch (Throwable e) {
                answer.fail(e);
              }
            },
            "blob-close");
    thread.setDaemon(true);
    thread.start();
    return answer.future();
  }
}
