package dev.bourse.trailstream;

import dev.bourse.audit.Chain;
import dev.bourse.audit.SealedBatch;
import dev.bourse.audit.SealedBatches;
import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.DeliveryBackoff;
import dev.bourse.delivery.DeliveryRounds;
import dev.bourse.delivery.Schedule;
import dev.bourse.jobs.BackgroundJobs;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * Sends each stream the batch after the last acknowledged one, one at a time. All of it runs on one
 * event loop, in the one process that holds the lease.
 */
final class Streamer implements DeliveryRounds.Work {
  static final DeliveryRounds.Terms TERMS =
      new DeliveryRounds.Terms(
          "trail-streams",
          "deliver-trail-streams",
          "sending sealed batches of trails to their receivers",
          1_000,
          60_000,
          BatchSender.ATTEMPT_MILLIS + 5_000);

  /** Interval of the full scan of streams, a safety net for missed notifications. */
  private static final long SWEEP_MILLIS = 30_000;

  /**
   * With a hundred thousand streams a scan occupies a reader for a second; scans take at most this
   * fraction of a reader's time.
   */
  private static final int LOOK_SHARE = 20;

  /** Delay before an attempt that found no free slot is tried again. */
  private static final long ROOM_MILLIS = 1_000;

  /** Streams held in memory, at 200 bytes each; further ones are loaded when there is room. */
  private static final int MAX_STREAMS = 50_000;

  private final TrailStreamStore store;
  private final SealedBatches batches;
  private final BatchSender sender;
  private final StreamSwitchOff switchOff;
  private final DeliveryBackoff retries;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final RandomGenerator random;
  private final AtomicLong taken = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final DeliveryRounds rounds;

  // Confined to the event loop of the rounds.
  private final Schedule schedule = new Schedule(BatchSender.MAX_AT_ONCE, 1);
  private long changes;
  private long throughId;
  private long sweptNanos;
  private long tookNanos;

  Streamer(
      Vertx vertx,
      Database database,
      DeliveryRounds.Terms terms,
      BatchSender sender,
      StreamSwitchOff switchOff,
      DeliveryBackoff retries,
      Clock clock,
      LongSupplier nanoTime,
      RandomGenerator random,
      BackgroundJobs jobs) {
    this.store = new TrailStreamStore(database);
    this.batches = new SealedBatches(vertx, database);
    this.sender = sender;
    this.switchOff = switchOff;
    this.retries = retries;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.random = random;
    this.rounds = new DeliveryRounds(vertx, database, terms, schedule, this, clock, nanoTime, jobs);
  }

  void start() {
    rounds.start();
  }

  /** Polls, because this process created or changed a stream. Safe on any thread. */
  void changed() {
    rounds.pollNow();
  }

  /** Returns the number of streams with unsent batches known to this process. */
  int waiting() {
    return rounds.queues();
  }

  /** Returns the number of batches sent by this process. */
  long taken() {
    return taken.get();
  }

  /** Returns the number of failed attempts of this process. */
  long failed() {
    return failed.get();
  }

  Future<Void> stop() {
    return rounds.stop();
  }

  @Override
  public boolean isBusy() {
    return false;
  }

  @Override
  public void leaseLost() {
    // Pending batches are only in the store.
  }

  /** Scans the streams if one was changed, or if there are new seals. */
  @Override
  public Future<Void> look(boolean isNew) {
    return Future.all(store.countChanges(), batches.readThroughId())
        .compose(now -> look(isNew, now.resultAt(0), now.resultAt(1)));
  }

  private Future<Void> look(boolean isNew, long changesNow, long throughNow) {
    long nanos = nanoTime.getAsLong();
    boolean isChanged = isNew || changesNow != changes;
    long pause = throughNow == throughId ? TimeUnit.MILLISECONDS.toNanos(SWEEP_MILLIS) : 0;
    if (!isChanged && nanos - sweptNanos < Math.max(pause, tookNanos * LOOK_SHARE)) {
      rounds.send();
      return Future.succeededFuture();
    }
    return store
        .listAhead(MAX_STREAMS)
        .map(
            found -> {
              changes = changesNow;
              throughId = throughNow;
              sweptNanos = nanoTime.getAsLong();
              tookNanos = sweptNanos - nanos;
              found.stream()
                  .filter(ahead -> isChanged || !schedule.knows(ahead.queue()))
                  .forEach(ahead -> schedule.put(ahead.queue(), ahead.dueMillis()));
              rounds.send();
              return null;
            });
  }

  @Override
  public Future<Runnable> attemptNext(Schedule.Queue queue) {
    return store
        .findLive(queue.endpointId())
        .compose(
            found ->
                found.isEmpty()
                    ? Future.succeededFuture(() -> schedule.recordEmpty(queue, clock.millis()))
                    : tried(queue, found.get()));
  }

  private Future<Runnable> tried(Schedule.Queue queue, TrailStream stream) {
    long due = stream.progress().nextTryAtMillis();
    if (due > clock.millis()) {
      return Future.succeededFuture(() -> schedule.postpone(queue, due, clock.millis()));
    }
    return store
        .findNext(stream)
        .compose(chain -> chain.isEmpty() ? none() : find(stream, chain.get()))
        .compose(
            batch ->
                batch.isEmpty()
                    ? Future.succeededFuture(() -> schedule.recordEmpty(queue, clock.millis()))
                    : sender
                        .send(stream, batch.get())
                        .compose(attempt -> conclude(queue, stream, batch.get(), attempt))
                        // The stream was changed during the attempt; try it with its new settings.
                        .recover(
                            e ->
                                e instanceof TrailStreamStore.StreamConflictException
                                    ? Future.succeededFuture(
                                        () ->
                                            schedule.postpone(
                                                queue, clock.millis(), clock.millis()))
                                    : Future.failedFuture(e)));
  }

  private static Future<Optional<SealedBatch>> none() {
    return Future.succeededFuture(Optional.empty());
  }

  private Future<Optional<SealedBatch>> find(TrailStream stream, Chain chain) {
    return batches.find(chain, stream.progress().batch(chain.isRead()) + 1);
  }

  private Future<Runnable> conclude(
      Schedule.Queue queue, TrailStream stream, SealedBatch batch, Attempt attempt) {
    long now = clock.millis();
    if (attempt.isSkipped()) {
      return Future.succeededFuture(() -> schedule.postpone(queue, now + ROOM_MILLIS, now));
    }
    if (attempt.isDelivered()) {
      taken.incrementAndGet();
      return store
          .taken(stream, batch.chain(), attempt, now)
          .map(stored -> () -> schedule.recordSuccess(queue, clock.millis()));
    }
    failed.incrementAndGet();
    TrailStream.Progress progress = stream.progress();
    Long first = progress.firstTryAtMillis();
    OptionalLong next =
        attempt.isGone()
            ? OptionalLong.empty()
            : retries.next(progress.tries() + 1, first == null ? now : first, now, random);
    if (next.isEmpty()) {
      return switchOff
          .store(
              stream,
              attempt.isGone() ? TrailStream.Reason.GONE : TrailStream.Reason.FAILING,
              attempt,
              now)
          .map(stored -> () -> schedule.recordFailure(queue, clock.millis(), clock.millis()));
    }
    return store
        .failed(stream, attempt, next.getAsLong(), now)
        .map(stored -> () -> schedule.recordFailure(queue, next.getAsLong(), clock.millis()));
  }
}
