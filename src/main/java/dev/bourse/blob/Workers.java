package dev.bourse.blob;

import dev.bourse.core.Bulkhead;
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
 * The threads of a store, in four pools, so that slow work does not delay fast work: blocks being
 * written to the disk; stored bytes being inspected again; short calls; and long calls, which
 * flush, free, list or send and may take seconds.
 *
 * <p>Calls and their waits for a thread appear in the trace of the current request, if there is
 * one, except for the blocks of a body, of which there may be thousands.
 *
 * <p>Threads are never interrupted because an interrupt closes the file in use.
 */
public final class Workers {

  private final ExecutorService blocks;
  private final ExecutorService checks;
  private final ExecutorService calls;
  private final ExecutorService longCalls;
  private final Bulkhead limit;
  private final Context home;

  /**
   * Creates the pools.
   *
   * @param callThreads the number of threads for short calls, and again for long ones; they wait
   *     for the disk or the network, not for a core
   */
  public Workers(Context home, BlobConfig config, int callThreads) {
    this.home = home;
    limit =
        Bulkhead.of("calls to the blob store", config.waitingCalls())
            .refusing(
                bound ->
                    new StorageBusyException(
                        bound + " calls to the blob store in progress, which is the limit"));
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
          // An upload is at its last complete block at any time, so the process need not wait for
          // the threads.
          thread.setDaemon(true);
          return thread;
        });
  }

  public Context home() {
    return home;
  }

  /**
   * Runs one step of an upload. Each upload has at most one in progress, so the open uploads bound
   * this queue.
   */
  void block(Runnable step) {
    blocks.execute(step);
  }

  /** Inspects and writes blocks. Each caller has at most one such call in progress. */
  public <T> Future<T> blockCall(Callable<T> step) {
    return run(blocks, () -> {}, Span.NONE, step);
  }

  /** Inspects stored bytes again, in the background; bounded in the same way. */
  public <T> Future<T> checkCall(Callable<T> step) {
    return run(checks, () -> {}, Span.NONE, step);
  }

  /** Inspects one slice of stored bytes; bounded in the same way. */
  void check(Runnable slice) {
    checks.execute(slice);
  }

  /** Runs a short call, or rejects it if too many wait. */
  public <T> Future<T> call(Callable<T> call) {
    return bounded(calls, call);
  }

  /** Runs a call that may take seconds, or rejects it if too many wait. */
  public <T> Future<T> longCall(Callable<T> call) {
    return bounded(longCalls, call);
  }

  /**
   * Runs a long call that releases a resource. It is never rejected because the open resources
   * bound these calls.
   */
  public <T> Future<T> giveBack(Callable<T> call) {
    return run(longCalls, () -> {}, span(), call);
  }

  private <T> Future<T> bounded(ExecutorService pool, Callable<T> call) {
    try {
      return run(pool, limit.enter("")::close, span(), call);
    } catch (StorageBusyException e) {
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
            // Before the answer, so that the caller's next call finds the slot free.
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
      return Future.failedFuture(new StorageBusyException("the blob store is closed"));
    }
    return answer.future();
  }

  /** Rejects new tasks and succeeds when the accepted ones are done. */
  public Future<Void> close() {
    WorkerPromise<Void> answer = new WorkerPromise<>(home);
    Thread thread =
        new Thread(
            () -> {
              try {
                for (ExecutorService pool : List.of(checks, blocks, calls, longCalls)) {
                  pool.shutdown();
                  while (!pool.awaitTermination(1, TimeUnit.MINUTES)) {
                    // A task on a disk ends; the stop of the service does not wait for a silent
                    // object store beyond its own limit.
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
