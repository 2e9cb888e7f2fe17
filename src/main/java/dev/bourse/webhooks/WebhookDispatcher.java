package dev.bourse.webhooks;

import dev.bourse.audit.TrailEntry;
import dev.bourse.audit.TrailStore;
import dev.bourse.billing.FinalMonths;
import dev.bourse.billing.Month;
import dev.bourse.capacity.Cluster;
import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.DeliveryBackoff;
import dev.bourse.delivery.DeliveryRounds;
import dev.bourse.delivery.Schedule;
import dev.bourse.events.ActivityStore;
import dev.bourse.events.ActivityStore.StoredActivity;
import dev.bourse.jobs.BackgroundJobs;
import dev.bourse.store.Database;
import dev.bourse.webhooks.OutboxStore.Cursor;
import dev.bourse.webhooks.OutboxStore.Head;
import dev.bourse.webhooks.OutboxStore.Source;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers events to webhook endpoints. It reads each source from its cursor, stores the deliveries
 * in the commit that advances the cursor, and sends them in the order of the {@link Schedule}. All
 * of it runs on one event loop, in the one process that holds the lease.
 *
 * <p>Published clusters trigger a read at once. Missed publications and events of organizations are
 * found by polling, every second or so. A cluster of an organization without endpoints costs a
 * look-up in a set.
 */
final class WebhookDispatcher implements DeliveryRounds.Work {
  private static final Logger LOG = LoggerFactory.getLogger(WebhookDispatcher.class);

  /** Interval of the full scan of sources and queues, a safety net for missed notifications. */
  private static final long SWEEP_MILLIS = 30_000;

  /** The lease keeps the name it had when webhooks were the only delivery. */
  static final DeliveryRounds.Terms TERMS =
      new DeliveryRounds.Terms(
          "delivery",
          "deliver-webhooks",
          "delivering events to webhooks",
          1_000,
          40_000,
          SignedSender.ATTEMPT_MILLIS + 5_000);

  /** Delay before an attempt that found no free slot is tried again. */
  private static final long ROOM_MILLIS = 1_000;

  /** Sources read at once; few beside the commits that the store has in progress. */
  private static final int MAX_READING = 8;

  /** Concurrent attempts of one endpoint: enough for a distant receiver, and no flood. */
  static final int MAX_OF_ENDPOINT = 4;

  /** Queues held in memory, at 200 bytes each; further ones are loaded when there is room. */
  private static final int MAX_QUEUES = 50_000;

  private final WebhookStore endpoints;
  private final OutboxStore store;
  private final ActivityStore activity;
  private final TrailStore trails;
  private final FinalMonths finalMonths;
  private final SignedSender sender;
  private final EndpointSwitchOff switchOff;
  private final DeliveryBackoff retries;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final RandomGenerator random;
  private final AtomicLong delivered = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();

  /** Organizations with endpoints; read on the thread that publishes a cluster. */
  private volatile Set<String> orgs = Set.of();

  // Confined to the context.
  private final Schedule schedule = new Schedule(SignedSender.MAX_AT_ONCE, MAX_OF_ENDPOINT);
  private final DeliveryRounds rounds;
  private final LinkedHashSet<Source> ahead = new LinkedHashSet<>();
  private final Set<Source> reading = new HashSet<>();
  private final Set<Source> aheadAgain = new HashSet<>();

  /** Sources that could not be read because the store was down; the next poll reads them. */
  private final Set<Source> unread = new HashSet<>();

  private long changes;
  private long sweptNanos;

  WebhookDispatcher(
      Vertx vertx,
      Database database,
      DeliveryRounds.Terms terms,
      SignedSender sender,
      EndpointSwitchOff switchOff,
      DeliveryBackoff retries,
      Clock clock,
      LongSupplier nanoTime,
      RandomGenerator random,
      BackgroundJobs jobs) {
    this.endpoints = new WebhookStore(database);
    this.store = new OutboxStore(database);
    this.activity = new ActivityStore(database);
    this.trails = new TrailStore(database);
    this.finalMonths = new FinalMonths(database);
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

  /** Reads on, because a cluster was published. Safe on any thread. */
  void published(Cluster cluster) {
    if (orgs.contains(cluster.orgId())) {
      rounds.run(
          () -> {
            if (rounds.hasLease()) {
              note(new Source(cluster.orgId(), cluster.name()));
              readOn();
            }
          });
    }
  }

  /** Polls, because this process created or changed an endpoint. Safe on any thread. */
  void changed() {
    rounds.pollNow();
  }

  /** Returns the number of non-empty queues known to this process. */
  int queues() {
    return rounds.queues();
  }

  /** Returns the number of events delivered by this process. */
  long delivered() {
    return delivered.get();
  }

  /** Returns the number of failed attempts of this process. */
  long failed() {
    return failed.get();
  }

  /**
   * Stops starting attempts, and succeeds when those in progress have ended. An attempt that takes
   * too long is repeated by the next holder of the lease.
   */
  Future<Void> stop() {
    return rounds.stop();
  }

  @Override
  public boolean isBusy() {
    return !reading.isEmpty();
  }

  @Override
  public void leaseLost() {
    ahead.clear();
    unread.clear();
  }

  @Override
  public Future<Void> look(boolean isNew) {
    unread.forEach(this::note);
    unread.clear();
    return store.countChanges().compose(now -> look(isNew, now));
  }

  private Future<Void> look(boolean isNew, long now) {
    boolean isChanged = isNew || now != changes;
    long nanos = nanoTime.getAsLong();
    if (isChanged || nanos - sweptNanos > TimeUnit.MILLISECONDS.toNanos(SWEEP_MILLIS)) {
      return store
          .listOrgs()
          .compose(
              found -> {
                orgs = Set.copyOf(found);
                return Future.all(
                    store.listTrailsAhead(),
                    store.listClustersAhead(clock.millis()),
                    listStatementsAhead(),
                    store.listQueues(MAX_QUEUES));
              })
          .map(
              all -> {
                changes = now;
                sweptNanos = nanos;
                all.<List<Source>>resultAt(0).forEach(this::note);
                all.<List<Source>>resultAt(1).forEach(this::note);
                all.<List<Source>>resultAt(2).forEach(this::note);
                all.<List<Schedule.Queue>>resultAt(3).stream()
                    .filter(queue -> isChanged || !schedule.knows(queue))
                    .forEach(queue -> schedule.put(queue, clock.millis()));
                readOn();
                rounds.send();
                return null;
              });
    }
    return (orgs.isEmpty() ? Future.succeededFuture(List.<Source>of()) : store.listTrailsAhead())
        .map(
            found -> {
              found.forEach(this::note);
              readOn();
              rounds.send();
              return null;
            });
  }

  /** Lists organizations with newly final statements; called by the full scan only. */
  private Future<List<Source>> listStatementsAhead() {
    return finalMonths
        .findLast()
        .compose(
            last ->
                last.map(store::listStatementsAhead)
                    .orElseGet(() -> Future.succeededFuture(List.of())));
  }

  private void note(Source source) {
    if (reading.contains(source)) {
      aheadAgain.add(source);
    } else {
      ahead.add(source);
    }
  }

  private void readOn() {
    Iterator<Source> next = ahead.iterator();
    while (rounds.mayBegin() && reading.size() < MAX_READING && next.hasNext()) {
      Source source = next.next();
      next.remove();
      reading.add(source);
      read(source)
          .onComplete(
              done ->
                  rounds.run(
                      () -> {
                        reading.remove(source);
                        boolean isMore = aheadAgain.remove(source);
                        if (done.succeeded() ? done.result() || isMore : isMore) {
                          ahead.add(source);
                        }
                        if (done.failed()) {
                          LOG.debug(
                              "cannot read events of {}: {}", source, done.cause().toString());
                          unread.add(source);
                        }
                        readOn();
                        rounds.send();
                        rounds.workEnded();
                      }));
      next = ahead.iterator();
    }
  }

  /** An entry of a source, with its event if there is one. */
  private record Entry(long position, long atMillis, Optional<WebhookEvent> event) {
    static Entry of(StoredActivity entry) {
      return new Entry(entry.id(), entry.atMillis(), WebhookEvent.of(entry));
    }

    static Entry of(TrailEntry entry) {
      return new Entry(entry.id(), entry.atMillis(), WebhookEvent.of(entry));
    }

    static Entry of(String orgId, FinalMonths.FinalMonth entry) {
      Month month = entry.month();
      return new Entry(
          month.number(),
          month.endMillis(),
          entry.hasStatement()
              ? Optional.of(WebhookEvent.statement(orgId, month))
              : Optional.empty());
    }
  }

  /** Creates deliveries for the entries after a source's cursor; returns whether there are more. */
  private Future<Boolean> read(Source source) {
    return store
        .findCursor(source)
        .compose(
            cursor ->
                cursor.isEmpty()
                    ? Future.succeededFuture(false)
                    : entries(source, cursor.get())
                        .compose(entries -> advance(source, cursor.get(), entries)));
  }

  private Future<List<Entry>> entries(Source source, Cursor cursor) {
    return switch (source.name()) {
      case WebhookEvent.ORGANIZATION ->
          trails
              .listWritesAfter(source.orgId(), cursor.position(), OutboxStore.PAGE)
              .map(found -> found.stream().map(Entry::of).toList());
      case WebhookEvent.STATEMENTS ->
          finalMonths
              .listAfter(source.orgId(), lastMonth(cursor), OutboxStore.PAGE)
              .map(found -> found.stream().map(one -> Entry.of(source.orgId(), one)).toList());
      default ->
          activity
              .listEventsAfter(
                  source.name(),
                  cursor.position(),
                  cursor.atMillis(),
                  clock.millis(),
                  OutboxStore.PAGE)
              .map(found -> found.stream().map(Entry::of).toList());
    };
  }

  /** The last month that was reported; at first the month before the first endpoint was created. */
  private static Month lastMonth(Cursor cursor) {
    return cursor.isNew()
        ? Month.at(Month.at(cursor.atMillis()).startMillis() - 1)
        : Month.ofNumber(cursor.position());
  }

  private Future<Boolean> advance(Source source, Cursor cursor, List<Entry> entries) {
    if (entries.isEmpty()) {
      return Future.succeededFuture(false);
    }
    Entry last = entries.get(entries.size() - 1);
    List<WebhookEvent> events =
        entries.stream().map(Entry::event).flatMap(Optional::stream).toList();
    // Read after the entries, so that every endpoint created before an entry is included.
    return endpoints
        .listEndpoints(source.orgId())
        .compose(
            told ->
                store
                    .advance(
                        source,
                        cursor,
                        last.position(),
                        last.atMillis(),
                        events,
                        told,
                        clock.millis())
                    .map(stored -> told))
        .map(
            told -> {
              for (WebhookEndpoint endpoint : told) {
                if (events.stream().anyMatch(endpoint::wants) && schedule.queues() < MAX_QUEUES) {
                  schedule.put(
                      new Schedule.Queue(endpoint.endpointId(), source.name()), clock.millis());
                }
              }
              return entries.size() == OutboxStore.PAGE;
            });
  }

  @Override
  public Future<Runnable> attemptNext(Schedule.Queue queue) {
    return store
        .findHead(queue)
        .compose(
            found -> {
              long now = clock.millis();
              if (found.isEmpty()) {
                return Future.succeededFuture(() -> schedule.recordEmpty(queue, clock.millis()));
              }
              long due = found.get().delivery().dueAtMillis();
              return due > now
                  ? Future.succeededFuture(() -> schedule.postpone(queue, due, clock.millis()))
                  : sender
                      .send(
                          found.get().endpoint(),
                          found.get().delivery().messageId(),
                          found.get().delivery().body())
                      .compose(attempt -> conclude(queue, found.get(), attempt));
            });
  }

  private Future<Runnable> conclude(Schedule.Queue queue, Head head, Attempt attempt) {
    Delivery delivery = head.delivery();
    long now = clock.millis();
    if (attempt.isSkipped()) {
      return Future.succeededFuture(() -> schedule.postpone(queue, now + ROOM_MILLIS, now));
    }
    if (attempt.isDelivered()) {
      delivered.incrementAndGet();
      return store
          .delivered(delivery, attempt, now)
          .map(stored -> () -> schedule.recordSuccess(queue, clock.millis()));
    }
    failed.incrementAndGet();
    Long first = delivery.firstTryAtMillis();
    OptionalLong next =
        attempt.isGone()
            ? OptionalLong.empty()
            : retries.next(delivery.tries() + 1, first == null ? now : first, now, random);
    if (next.isEmpty()) {
      return switchOff
          .store(
              head.endpoint(),
              attempt.isGone() ? WebhookEndpoint.Reason.GONE : WebhookEndpoint.Reason.FAILING,
              List.of(OutboxStore.recordLastTry(delivery, attempt, now)),
              now)
          // The endpoint was changed during the attempt and may have a new address; try that.
          .recover(
              e ->
                  e instanceof OutboxStore.CursorConflictException
                      ? Future.succeededFuture()
                      : Future.failedFuture(e))
          .map(stored -> () -> schedule.recordFailure(queue, clock.millis(), clock.millis()));
    }
    return store
        .failed(head, attempt, next.getAsLong(), now)
        .map(stored -> () -> schedule.recordFailure(queue, next.getAsLong(), clock.millis()));
  }
}
