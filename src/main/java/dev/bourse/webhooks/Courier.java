package dev.bourse.webhooks;

import dev.bourse.audit.TrailEntry;
import dev.bourse.audit.TrailStore;
import dev.bourse.billing.FinalMonths;
import dev.bourse.billing.Month;
import dev.bourse.capacity.Cluster;
import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.DeliveryRounds;
import dev.bourse.delivery.Retries;
import dev.bourse.delivery.Schedule;
import dev.bourse.events.ActivityStore;
import dev.bourse.events.ActivityStore.StoredActivity;
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
 * Delivers what happens. It reads on from where each source's cursor stands, stores what is to be
 * delivered in the commit that moves the cursor, and sends what waits by the {@link Schedule}. All
 * of it is on one event loop; of several processes the one that has the lease does it.
 *
 * <p>What has happened to a cluster shows as it is published; what this misses, and what happens to
 * organizations, is looked for every second or some. Clusters of organizations without endpoints
 * cost a look-up in a set.
 */
final class Courier implements DeliveryRounds.Work {
  private static final Logger LOG = LoggerFactory.getLogger(Courier.class);

  /** How often all sources and queues are looked for; they are known without that. */
  private static final long SWEEP_MILLIS = 30_000;

  /** The lease has the name that it had when nothing else was delivered. */
  static final DeliveryRounds.Terms TERMS =
      new DeliveryRounds.Terms("delivery", 1_000, 40_000, SignedSender.ATTEMPT_MILLIS + 5_000);

  /** When there may be room for an attempt that was not made for the lack of it. */
  private static final long ROOM_MILLIS = 1_000;

  /** Sources read at once: little beside what the store lets wait. */
  private static final int MAX_READING = 8;

  /** Attempts of one endpoint: enough for a receiver that is far away, and no flood for any. */
  static final int MAX_OF_ENDPOINT = 4;

  /** Queues known at once, of 200 bytes each; those above are found when there is room. */
  private static final int MAX_QUEUES = 50_000;

  private final WebhookStore endpoints;
  private final OutboxStore store;
  private final ActivityStore activity;
  private final TrailStore trails;
  private final FinalMonths finalMonths;
  private final SignedSender sender;
  private final SwitchOff switchOff;
  private final Retries retries;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final RandomGenerator random;
  private final AtomicLong delivered = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();

  /** Organizations with endpoints; read on whatever thread publishes a cluster. */
  private volatile Set<String> orgs = Set.of();

  // On the context alone.
  private final Schedule schedule = new Schedule(SignedSender.MAX_AT_ONCE, MAX_OF_ENDPOINT);
  private final DeliveryRounds rounds;
  private final LinkedHashSet<Source> ahead = new LinkedHashSet<>();
  private final Set<Source> reading = new HashSet<>();
  private final Set<Source> aheadAgain = new HashSet<>();

  /** Those that could not be read, as the store was away; the next look reads them. */
  private final Set<Source> unread = new HashSet<>();

  private long changes;
  private long sweptNanos;

  Courier(
      Vertx vertx,
      Database database,
      DeliveryRounds.Terms terms,
      SignedSender sender,
      SwitchOff switchOff,
      Retries retries,
      Clock clock,
      LongSupplier nanoTime,
      RandomGenerator random) {
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
    this.rounds =
        new DeliveryRounds(vertx, database, terms, schedule, this, clock, nanoTime, random);
  }

  void start() {
    rounds.start();
  }

  /** Something has happened to a cluster, perhaps. Called on any thread. */
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

  /** An endpoint was made or changed by this process. Called on any thread. */
  void changed() {
    rounds.lookSoon();
  }

  /** Queues in which something waits, known to this process. */
  int queues() {
    return rounds.queues();
  }

  /** Deliveries that succeeded here. */
  long delivered() {
    return delivered.get();
  }

  /** Attempts that failed here. */
  long failed() {
    return failed.get();
  }

  /**
   * Begins no attempt any more; succeeds when those under way have ended. One that takes too long
   * is made again by whoever comes next.
   */
  Future<Void> stop() {
    return rounds.stop();
  }

  @Override
  public boolean isBusy() {
    return !reading.isEmpty();
  }

  @Override
  public void lost() {
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

  /** Organizations whose statements have become final; looked for with the sweeps. */
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
                          LOG.debug("{} could not be read on: {}", source, done.cause().toString());
                          unread.add(source);
                        }
                        readOn();
                        rounds.send();
                        rounds.noteEnded();
                      }));
      next = ahead.iterator();
    }
  }

  /** An entry of a source, and what it tells. */
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

  /** Makes deliveries of what follows a source's cursor; whether there is more. */
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
              .listAfter(source.orgId(), toldMonth(cursor), OutboxStore.PAGE)
              .map(found -> found.stream().map(one -> Entry.of(source.orgId(), one)).toList());
      default ->
          activity
              .listToldAfter(
                  source.name(),
                  cursor.position(),
                  cursor.atMillis(),
                  clock.millis(),
                  OutboxStore.PAGE)
              .map(found -> found.stream().map(Entry::of).toList());
    };
  }

  /** The month before the one in which the first endpoint was made, until there is one told. */
  private static Month toldMonth(Cursor cursor) {
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
    // Read after the entries: whoever asked before one of them was made is among these.
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
  public Future<Runnable> tried(Schedule.Queue queue) {
    return store
        .findHead(queue)
        .compose(
            found -> {
              long now = clock.millis();
              if (found.isEmpty()) {
                return Future.succeededFuture(() -> schedule.emptied(queue, clock.millis()));
              }
              long due = found.get().delivery().dueAtMillis();
              return due > now
                  ? Future.succeededFuture(() -> schedule.postponed(queue, due, clock.millis()))
                  : sender
                      .send(
                          found.get().endpoint(),
                          found.get().delivery().messageId(),
                          found.get().delivery().body())
                      .compose(attempt -> concluded(queue, found.get(), attempt));
            });
  }

  private Future<Runnable> concluded(Schedule.Queue queue, Head head, Attempt attempt) {
    Delivery delivery = head.delivery();
    long now = clock.millis();
    if (attempt.isNotMade()) {
      return Future.succeededFuture(() -> schedule.postponed(queue, now + ROOM_MILLIS, now));
    }
    if (attempt.isDelivered()) {
      delivered.incrementAndGet();
      return store
          .delivered(delivery, attempt, now)
          .map(stored -> () -> schedule.delivered(queue, clock.millis()));
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
              List.of(OutboxStore.lastTry(delivery, attempt, now)),
              now)
          // Whoever changed it meanwhile may have moved it: then it is tried there.
          .recover(
              e ->
                  e instanceof OutboxStore.Moved
                      ? Future.succeededFuture()
                      : Future.failedFuture(e))
          .map(stored -> () -> schedule.failed(queue, clock.millis(), clock.millis()));
    }
    return store
        .failed(head, attempt, next.getAsLong(), now)
        .map(stored -> () -> schedule.failed(queue, next.getAsLong(), clock.millis()));
  }
}
