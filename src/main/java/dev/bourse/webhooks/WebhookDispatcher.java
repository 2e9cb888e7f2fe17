package dev.bourse.webhooks;

import dev.bourse.audit.TrailEntry;
import dev.bourse.audit.TrailStore;
import dev.bourse.billing.FinalMonths;
import dev.bourse.billing.Month;
import dev.bourse.capacity.Cluster;
import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.AttemptHistory;
import dev.bourse.delivery.DeliveryClient;
import dev.bourse.delivery.DeliveryEngine;
import dev.bourse.delivery.DeliveryKind;
import dev.bourse.delivery.RetrySchedule;
import dev.bourse.delivery.Schedule;
import dev.bourse.delivery.SwitchOffReason;
import dev.bourse.events.ActivityStore;
import dev.bourse.events.ActivityStore.StoredActivity;
import dev.bourse.jobs.BackgroundJobs;
import dev.bourse.jobs.JobLease;
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
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers events to webhook endpoints. It reads each source from its cursor, stores the deliveries
 * in the commit that advances the cursor, and has the engine send them.
 *
 * <p>Published clusters trigger a read at once. Missed publications and events of organizations are
 * found by polling, every second or so. A cluster of an organization without endpoints costs a
 * look-up in a set.
 */
final class WebhookDispatcher implements DeliveryKind<Head> {
  private static final Logger LOG = LoggerFactory.getLogger(WebhookDispatcher.class);

  /** The lease keeps the name it had when webhooks were the only delivery. */
  private static final String LEASE = "delivery";

  static final DeliveryEngine.Terms TERMS =
      new DeliveryEngine.Terms(
          "deliver-webhooks",
          "delivering events to webhooks",
          1_000,
          30_000,
          SignedSender.MAX_AT_ONCE,
          // Enough for a distant receiver, and no flood.
          4,
          Math.min(SignedSender.MAX_AT_ONCE / 2, DeliveryClient.MOST_OF_FAILING),
          40_000,
          SignedSender.ATTEMPT_MILLIS + 5_000);

  /** Sources read at once; few beside the commits that the store has in progress. */
  private static final int MAX_READING = 8;

  private final WebhookStore endpoints;
  private final OutboxStore store;
  private final ActivityStore activity;
  private final TrailStore trails;
  private final FinalMonths finalMonths;
  private final SignedSender sender;
  private final EndpointSwitchOff switchOff;
  private final Clock clock;
  private final Database database;
  private final DeliveryEngine<Head> engine;

  /** Organizations with endpoints; read on the thread that publishes a cluster. */
  private volatile Set<String> orgs = Set.of();

  // Confined to the context.
  private final LinkedHashSet<Source> ahead = new LinkedHashSet<>();
  private final Set<Source> reading = new HashSet<>();
  private final Set<Source> aheadAgain = new HashSet<>();

  /** Sources that could not be read because the store was down; the next poll reads them. */
  private final Set<Source> unread = new HashSet<>();

  WebhookDispatcher(
      Vertx vertx,
      Database database,
      DeliveryEngine.Terms terms,
      SignedSender sender,
      EndpointSwitchOff switchOff,
      RetrySchedule retries,
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
    this.clock = clock;
    this.database = database;
    this.engine = new DeliveryEngine<>(vertx, terms, this, retries, clock, nanoTime, random);
  }

  void start(BackgroundJobs jobs) {
    engine.start(jobs, new JobLease(database, LEASE, jobs.process()));
  }

  DeliveryEngine<Head> engine() {
    return engine;
  }

  /** Reads on, because a cluster was published. Safe on any thread. */
  void published(Cluster cluster) {
    if (orgs.contains(cluster.orgId())) {
      engine.run(
          () -> {
            if (engine.isDelivering()) {
              note(new Source(cluster.orgId(), cluster.name()));
              readOn();
            }
          });
    }
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
  public Future<Mark> readMark() {
    return WebhookStore.TABLE.countChanges(database).map(changes -> new Mark(changes, 0));
  }

  /** Notes the sources with entries past their cursor, and starts to read them. */
  @Override
  public Future<Void> prepare(boolean isScan) {
    unread.forEach(this::note);
    unread.clear();
    Future<List<Source>> clusters =
        isScan
            ? store
                .listOrgs()
                .compose(
                    found -> {
                      orgs = Set.copyOf(found);
                      return store.listClustersAhead(clock.millis());
                    })
            : Future.succeededFuture(List.of());
    return clusters.compose(
        ahead ->
            Future.all(
                    orgs.isEmpty() ? Future.succeededFuture(List.of()) : store.listTrailsAhead(),
                    isScan ? listStatementsAhead() : Future.succeededFuture(List.of()))
                .map(
                    others -> {
                      others.<List<Source>>resultAt(0).forEach(this::note);
                      ahead.forEach(this::note);
                      others.<List<Source>>resultAt(1).forEach(this::note);
                      readOn();
                      return null;
                    }));
  }

  @Override
  public Future<List<Pending>> listPending(Optional<Schedule.Queue> after, int most) {
    return store.listQueues(after, most);
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
    while (engine.mayBegin() && reading.size() < MAX_READING && next.hasNext()) {
      Source source = next.next();
      next.remove();
      reading.add(source);
      read(source)
          .onComplete(
              done ->
                  engine.run(
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
                        engine.attemptDue();
                        engine.workEnded();
                      }));
      next = ahead.iterator();
    }
  }

  /** An entry of a source, with its event if there is one. */
  private record Entry(long position, long atMillis, Optional<WebhookEvent> event) {
    static Entry of(StoredActivity entry, Cluster.Kind surface) {
      return new Entry(entry.id(), entry.atMillis(), WebhookEvent.of(entry, surface));
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
              .findSurface(source.name())
              .compose(
                  surface ->
                      activity
                          .listEventsAfter(
                              source.name(),
                              cursor.position(),
                              cursor.atMillis(),
                              clock.millis(),
                              OutboxStore.PAGE)
                          .map(
                              found -> found.stream().map(one -> Entry.of(one, surface)).toList()));
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
                if (events.stream().anyMatch(endpoint::wants)) {
                  engine.put(new Schedule.Queue(endpoint.endpointId(), source.name()));
                }
              }
              return entries.size() == OutboxStore.PAGE;
            });
  }

  @Override
  public Future<Optional<Head>> findNext(Schedule.Queue queue) {
    return store.findHead(queue);
  }

  @Override
  public AttemptHistory history(Head head) {
    return head.delivery().attempts();
  }

  @Override
  public Future<Attempt> send(Head head) {
    return sender.send(head.endpoint(), head.delivery().messageId(), head.delivery().body());
  }

  @Override
  public Future<Void> recordDelivered(Head head, Attempt attempt, long nowMillis) {
    return store.delivered(head.delivery(), attempt, nowMillis);
  }

  @Override
  public Future<Void> recordFailed(Head head, Attempt attempt, long nextAtMillis, long nowMillis) {
    return store.failed(head, attempt, nextAtMillis, nowMillis);
  }

  @Override
  public Future<Void> giveUp(Head head, Attempt attempt, long nowMillis) {
    return switchOff.store(
        head.endpoint(),
        SwitchOffReason.of(attempt),
        List.of(OutboxStore.recordLastTry(head.delivery(), attempt, nowMillis)),
        nowMillis);
  }
}
