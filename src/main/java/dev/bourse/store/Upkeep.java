package dev.bourse.store;

import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work on the store that nobody waits for, in rounds of small steps.
 *
 * <p>One step is under way at a time, and after each comes a pause as long as the step took. So it
 * takes at most half of one core, of a reader and of the writer, however much there is to catch up
 * with; and as a step takes longer while the store is busy, it gives way by itself.
 */
public final class Upkeep {
  private static final Logger LOG = LoggerFactory.getLogger(Upkeep.class);

  /** The shortest pause a timer can make. */
  private static final long LEAST_PAUSE_MILLIS = 1;

  private final Vertx vertx;
  private final Context context;
  private final String name;
  private final long intervalMillis;
  private final LongSupplier nanoTime;
  private final Supplier<Future<Boolean>> step;

  // On the context alone.
  private long timer = -1;
  private boolean failing;
  private boolean stepping;
  private @Nullable Promise<Void> stopping;

  /**
   * @param name what it does, for the log
   * @param intervalMillis from the end of a round to the next, at least 1
   * @param step one small piece of work; tells whether there is more to do in this round
   */
  public Upkeep(
      Vertx vertx,
      String name,
      long intervalMillis,
      LongSupplier nanoTime,
      Supplier<Future<Boolean>> step) {
    this.vertx = vertx;
    this.context = vertx.getOrCreateContext();
    this.name = name;
    this.intervalMillis = intervalMillis;
    this.nanoTime = nanoTime;
    this.step = step;
  }

  /** Begins with a round at once: a process that is restarted often has its rounds too. */
  public void start() {
    context.runOnContext(v -> next());
  }

  /** Succeeds when the step under way is done; no other follows. */
  public Future<Void> stop() {
    Promise<Void> stopped = Promise.promise();
    context.runOnContext(
        v -> {
          stopping = stopped;
          if (!stepping) {
            vertx.cancelTimer(timer);
            stopped.complete();
          }
        });
    return stopped.future();
  }

  private void next() {
    if (stopping != null) {
      return;
    }
    stepping = true;
    long begin = nanoTime.getAsLong();
    Future.succeededFuture().compose(v -> step.get()).onComplete(done -> stepped(done, begin));
  }

  private void stepped(AsyncResult<Boolean> done, long begin) {
    stepping = false;
    report(done);
    if (stopping != null) {
      stopping.complete();
      return;
    }
    boolean isMore = done.succeeded() && done.result();
    long tookMillis = (nanoTime.getAsLong() - begin) / 1_000_000;
    long pause = isMore ? Math.max(LEAST_PAUSE_MILLIS, tookMillis) : intervalMillis;
    timer = vertx.setTimer(pause, id -> next());
  }

  /** A store that stays away must not fill the log; only a change is news. */
  private void report(AsyncResult<Boolean> done) {
    if (done.failed() && !failing) {
      LOG.warn("{} failed and is tried again: {}", name, done.cause().toString());
    } else if (done.succeeded() && failing) {
      LOG.info("{} works again", name);
    }
    failing = done.failed();
  }
}
