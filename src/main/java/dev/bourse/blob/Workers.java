package dev.bourse.blob;

import dev.bourse.core.Limit;
import dev.bourse.logs.RequestContext;
import dev.bourse.traces.Span;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The threads of a store, in four pools, so that nothing slow delays something quick: blocks on
 * their way to the disk; stored bytes that are inspected again; short calls; and long ones, which
 * flush, free, list or send and may take seconds.
 *
 * <p>The trace of a request that asks, if it has one, is told of each call and of its wait for a
 * thread, but for the blocks of a body, of which there may be thousands.
 *
 * <p>No thread is ever interrupted, for that would close the file it is at.
 */
public final class Workers {

  private final ExecutorService blocks;
  private final ExecutorService checks;
  private final ExecutorService calls;
  private final ExecutorService longCalls;
  private final Limit limit;
  private final Context home;

  /**
   * @param callThreads of short calls, and as many of long ones; they wait for the disk or the
   *     network and not for a core
   */
  public Workers(Context home, BlobConfig config, int callThreads) {
    this.home = home;
    limit =
        Limit.of("calls to the blob store", config.waitingCalls())
            .refusing(bound -> new StorageBusy(bound + " calls to the blob store already"));
    blocks = pool("blob-block", config.threads());
    checks = pool("blob-check", Math.max(1, config.threads() / 2));
    calls = pool("blob-call", callThreads);
    longCalls = pool("blob-long-call", callThreads);
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

  public Context home() {
    return home;
  }

  /** One step of an upload: each has at most one under way, so open uploads bound this queue. */
  void block(Runnable step) {
    blocks.execute(step);
  }

  /** Inspects and writes blocks; whoever asks has one such call under way at a time. */
  public <T> Future<T> blockCall(Callable<T> step) {
    return run(blocks, () -> {}, Span.NONE, step);
  }

  /** Inspects stored bytes again, in the background; bounded in the same way. */
  public <T> Future<T> checkCall(Callable<T> step) {
    return run(checks, () -> {}, Span.NONE, step);
  }

  /** One slice of stored bytes; bounded in the same way. */
  void check(Runnable slice) {
    checks.execute(slice);
  }

  /** A short call, refused when too many wait. */
  public <T> Future<T> call(Callable<T> call) {
    return bounded(calls, call);
  }

  /** A call that may take seconds, refused when too many wait. */
  public <T> Future<T> longCall(Callable<T> call) {
    return bounded(longCalls, call);
  }

  /** A long call that gives something back and is not refused: what was open bounds these. */
  public <T> Future<T> giveBack(Callable<T> call) {
    return run(longCalls, () -> {}, span(), call);
  }

  private <T> Future<T> bounded(ExecutorService pool, Callable<T> call) {
    try {
      return run(pool, limit.enter("")::close, span(), call);
    } catch (StorageBusy e) {
      return Future.failedFuture(e);
    }
  }

  private static Span span() {
    return RequestContext.currentSpan().child("files", Span.Kind.CLIENT);
  }

  private <T> Future<T> run(ExecutorService pool, Runnable leave, Span span, Callable<T> call) {
    WorkerPromise<T> answer = new WorkerPromise<>(home);
    try {
      pool.execute(
          () -> {
            @Nullable T result = null;
            @Nullable Throwable failure = null;
            try {
              result = call.call();
            } catch (Throwable e) {
              failure = e;
            }
            // Before the answer, so that whoever hears of it finds the place free.
            leave.run();
            span.end(failure);
            if (failure == null) {
              answer.succeed(result);
            } else {
              answer.fail(failure);
            }
          });
    } catch (RejectedExecutionException e) {
      leave.run();
      span.end(e);
      return Future.failedFuture(new StorageBusy("the blob store is closed"));
    }
    return answer.future();
  }

  /** Takes nothing more, and succeeds when all that was taken is done. */
  public Future<Void> close() {
    WorkerPromise<Void> answer = new WorkerPromise<>(home);
    Thread thread =
        new Thread(
            () -> {
              try {
                for (ExecutorService pool : List.of(checks, blocks, calls, longCalls)) {
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
