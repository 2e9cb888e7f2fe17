package dev.bourse.trailstream;

import dev.bourse.audit.Chain;
import dev.bourse.audit.SealedBatch;
import dev.bourse.audit.SealedBatches;
import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.DeliveryRounds;
import dev.bourse.delivery.Retries;
import dev.bourse.delivery.Schedule;
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
 * Sends each stream the batch after the last that its receiver has taken, one at a time. All of it
 * is on one event loop; of several processes the one that has the lease does it.
 */
final class Streamer implements DeliveryRounds.Work {
  static final DeliveryRounds.Terms TERMS =
      new DeliveryRounds.Terms("trail-streams", 1_000, 60_000, BatchSender.ATTEMPT_MILLIS + 5_000);

  /** How often all streams are looked through; what is new is known without that. */
  private static final long SWEEP_MILLIS = 30_000;

  /**
   * Of a hundred thousand streams a look takes a second of a reader: a part in so many is theirs.
   */
  private static final int LOOK_SHARE = 20;

  /** When there may be room for an attempt that was not made for the lack of it. */
  private static final long ROOM_MILLIS = 1_000;

  /** Streams known at once, of 200 bytes each; those above are found when there is room. */
  private static final int MAX_STREAMS = 50_000;

  private final TrailStreamStore store;
  private final SealedBatches batches;
  private final BatchSender sender;
  private final StreamSwitchOff switchOff;
  private final Retries retries;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final RandomGenerator random;
  private final AtomicLong taken = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final DeliveryRounds rounds;

  // On the event loop of the rounds alone.
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
      Retries retries,
      Clock clock,
      LongSupplier nanoTime,
      RandomGenerator random) {
    this.store = new TrailStreamStore(database);
    this.batches = new SealedBatches(vertx, database);
    this.sender = sender;
    this.switchOff = switchOff;
    this.retries = retries;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.random = random;
    this.rounds =
        new DeliveryRounds(vertx, database, terms, schedule, this, clock, nanoTime, random);
  }

  void start() {
    rounds.start();
  }

  /** A stream was made or changed by this process. Called on any thread. */
  void changed() {
    rounds.lookSoon();
  }

  /** Streams with a batch that is not taken yet, known to this process. */
  int waiting() {
    return rounds.queues();
  }

  /** Batches that were taken from here. */
  long taken() {
    return taken.get();
  }

  /** Attempts that failed here. */
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
  public void lost() {
    // What waits is in the store alone.
  }

  /** Streams are looked through when one was changed, or when there are new seals. */
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
  public Future<Runnable> tried(Schedule.Queue queue) {
    return store
        .findLive(queue.endpointId())
        .compose(
            found ->
                found.isEmpty()
                    ? Future.succeededFuture(() -> schedule.emptied(queue, clock.millis()))
                    : tried(queue, found.get()));
  }

  private Future<Runnable> tried(Schedule.Queue queue, TrailStream stream) {
    long due = stream.progress().nextTryAtMillis();
    if (due > clock.millis()) {
      return Future.succeededFuture(() -> schedule.postponed(queue, due, clock.millis()));
    }
    return store
        .findNext(stream)
        .compose(chain -> chain.isEmpty() ? none() : find(stream, chain.get()))
        .compose(
            batch ->
                batch.isEmpty()
                    ? Future.succeededFuture(() -> schedule.emptied(queue, clock.millis()))
                    : sender
                        .send(stream, batch.get())
                        .compose(attempt -> concluded(queue, stream, batch.get(), attempt))
                        // Whoever changed it meanwhile has it tried as it is now.
                        .recover(
                            e ->
                                e instanceof TrailStreamStore.Moved
                                    ? Future.succeededFuture(
                                        () ->
                                            schedule.postponed(
                                                queue, clock.millis(), clock.millis()))
                                    : Future.failedFuture(e)));
  }

  private static Future<Optional<SealedBatch>> none() {
    return Future.succeededFuture(Optional.empty());
  }

  private Future<Optional<SealedBatch>> find(TrailStream stream, Chain chain) {
    return batches.find(chain, stream.progress().batch(chain.isRead()) + 1);
  }

  private Future<Runnable> concluded(
      Schedule.Queue queue, TrailStream stream, SealedBatch batch, Attempt attempt) {
    long now = clock.millis();
    if (attempt.isNotMade()) {
      return Future.succeededFuture(() -> schedule.postponed(queue, now + ROOM_MILLIS, now));
    }
    if (attempt.isDelivered()) {
      taken.incrementAndGet();
      return store
          .taken(stream, batch.chain(), attempt, now)
          .map(stored -> () -> schedule.delivered(queue, clock.millis()));
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
          .map(stored -> () -> schedule.failed(queue, clock.millis(), clock.millis()));
    }
    return store
        .failed(stream, attempt, next.getAsLong(), now)
        .map(stored -> () -> schedule.failed(queue, next.getAsLong(), clock.millis()));
  }
}
