package dev.bourse.trailstream;

import dev.bourse.audit.Chain;
import dev.bourse.audit.SealedBatches;
import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.AttemptHistory;
import dev.bourse.delivery.DeliveryClient;
import dev.bourse.delivery.DeliveryEngine;
import dev.bourse.delivery.DeliveryKind;
import dev.bourse.delivery.ReceiverChangedException;
import dev.bourse.delivery.RetrySchedule;
import dev.bourse.delivery.Schedule;
import dev.bourse.delivery.SwitchOffReason;
import dev.bourse.jobs.BackgroundJobs;
import dev.bourse.jobs.JobLease;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/** Delivers to each stream the batch after the last acknowledged one, one at a time. */
final class Streamer implements DeliveryKind<Streamer.Next> {
  static final DeliveryEngine.Terms TERMS =
      new DeliveryEngine.Terms(
          "deliver-trail-streams",
          "sending sealed batches of trails to their receivers",
          1_000,
          30_000,
          BatchSender.MAX_AT_ONCE,
          1,
          Math.min(BatchSender.MAX_AT_ONCE / 2, DeliveryClient.MOST_OF_FAILING),
          60_000,
          BatchSender.ATTEMPT_MILLIS + 5_000);

  private static final String LEASE = "trail-streams";

  private final Database database;
  private final TrailStreamStore store;
  private final SealedBatches batches;
  private final BatchSender sender;
  private final StreamSwitchOff switchOff;
  private final DeliveryEngine<Next> engine;

  /** A stream, and the chain whose next batch is sent to it; the batch is read when it is sent. */
  record Next(TrailStream stream, Chain chain) {}

  Streamer(
      Vertx vertx,
      Database database,
      DeliveryEngine.Terms terms,
      BatchSender sender,
      StreamSwitchOff switchOff,
      RetrySchedule retries,
      Clock clock,
      LongSupplier nanoTime,
      RandomGenerator random) {
    this.database = database;
    this.store = new TrailStreamStore(database);
    this.batches = new SealedBatches(vertx, database);
    this.sender = sender;
    this.switchOff = switchOff;
    this.engine = new DeliveryEngine<>(vertx, terms, this, retries, clock, nanoTime, random);
  }

  void start(BackgroundJobs jobs) {
    engine.start(jobs, new JobLease(database, LEASE, jobs.process()));
  }

  DeliveryEngine<Next> engine() {
    return engine;
  }

  @Override
  public Future<Mark> readMark() {
    return Future.all(TrailStreamStore.TABLE.countChanges(database), batches.readThroughId())
        .map(both -> new Mark(both.resultAt(0), both.resultAt(1)));
  }

  @Override
  public Future<List<Pending>> listPending(Optional<Schedule.Queue> after, int most) {
    return store.listAhead(after, most);
  }

  @Override
  public Future<Optional<Next>> findNext(Schedule.Queue queue) {
    return store
        .findLive(queue.endpointId())
        .compose(
            found ->
                found
                    .map(this::findNext)
                    .orElseGet(() -> Future.succeededFuture(Optional.empty())));
  }

  private Future<Optional<Next>> findNext(TrailStream stream) {
    return store.findNext(stream).map(found -> found.map(chain -> new Next(stream, chain)));
  }

  @Override
  public AttemptHistory history(Next next) {
    return next.stream().progress().attempts();
  }

  @Override
  public Future<Attempt> send(Next next) {
    TrailStream stream = next.stream();
    return batches
        .find(next.chain(), stream.progress().batch(next.chain().isRead()) + 1)
        // Without its seal, the organization is being deleted.
        .compose(
            found ->
                found
                    .map(batch -> sender.send(stream, batch))
                    .orElseGet(() -> Future.failedFuture(new ReceiverChangedException())));
  }

  @Override
  public Future<Void> recordDelivered(Next next, Attempt attempt, long nowMillis) {
    return store.taken(next.stream(), next.chain(), attempt, nowMillis);
  }

  @Override
  public Future<Void> recordFailed(Next next, Attempt attempt, long nextAtMillis, long nowMillis) {
    return store.failed(next.stream(), attempt, nextAtMillis, nowMillis);
  }

  @Override
  public Future<Void> giveUp(Next next, Attempt attempt, long nowMillis) {
    return switchOff.store(next.stream(), SwitchOffReason.of(attempt), attempt, nowMillis);
  }
}
