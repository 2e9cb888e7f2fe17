package dev.bourse.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.StoreFixture;
import dev.bourse.jobs.JobLease;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.Statement;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.TestJobs;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The engine between hostile receivers, a store that fails, and processes that die. */
@OneEngine("its queues are in memory")
class DeliveryEngineTest extends StoreFixture {
  private static final long DAY = Duration.ofDays(1).toMillis();
  private static final int MOST = 16;
  private static final int PER_QUEUE = 5;

  private static final Attempt TAKEN = new Attempt(200, null);
  private static final Attempt REFUSED = new Attempt(500, "answered with status 500");

  private final AtomicLong nanos = new AtomicLong(TimeUnit.DAYS.toNanos(1));
  private final Store store = new Store();
  private final List<DeliveryEngine<Item>> engines = new ArrayList<>();

  /** An item as it was read. */
  private record Item(Schedule.Queue queue, int number, AttemptHistory attempts) {}

  /** The items of one queue. */
  private static final class Line {
    int next = 1;
    int last;
    int givenUp;
    AttemptHistory attempts = AttemptHistory.none(0);

    boolean isPending() {
      return next <= last;
    }

    void advance() {
      next++;
      attempts = AttemptHistory.none(0);
    }
  }

  /** What processes share: pending items and the items that receivers took, in their order. */
  private static final class Store {
    private final TreeMap<String, Line> lines = new TreeMap<>();
    private final Map<String, List<Integer>> taken = new TreeMap<>();
    private long items;

    synchronized Line line(Schedule.Queue queue) {
      return lines.computeIfAbsent(queue.endpointId() + '/' + queue.source(), name -> new Line());
    }

    synchronized void add(Schedule.Queue queue, int count) {
      line(queue).last += count;
      items++;
    }

    synchronized long items() {
      return items;
    }

    synchronized List<DeliveryKind.Pending> list(Optional<Schedule.Queue> after, int most) {
      String from = after.map(queue -> queue.endpointId() + '/' + queue.source()).orElse("");
      return lines.tailMap(from, false).entrySet().stream()
          .filter(entry -> entry.getValue().isPending())
          .limit(most)
          .map(
              entry ->
                  new DeliveryKind.Pending(
                      queue(entry.getKey()),
                      entry.getValue().attempts.nextAtMillis(),
                      entry.getValue().attempts.tries()))
          .toList();
    }

    private static Schedule.Queue queue(String name) {
      String[] parts = name.split("/", -1);
      return new Schedule.Queue(parts[0], parts[1]);
    }

    synchronized Optional<Item> first(Schedule.Queue queue) {
      Line line = line(queue);
      return line.isPending()
          ? Optional.of(new Item(queue, line.next, line.attempts))
          : Optional.empty();
    }

    synchronized void arrived(Item item) {
      taken.computeIfAbsent(item.queue().endpointId(), id -> new ArrayList<>()).add(item.number());
    }

    synchronized List<Integer> taken(String receiver) {
      return List.copyOf(taken.getOrDefault(receiver, List.of()));
    }

    synchronized long pending() {
      return lines.values().stream().mapToLong(line -> line.last + 1 - line.next).sum();
    }

    synchronized int leastTries() {
      return lines.values().stream()
          .filter(Line::isPending)
          .mapToInt(line -> line.attempts.tries())
          .min()
          .orElse(0);
    }

    synchronized long pendingOf(Predicate<String> receivers) {
      return lines.entrySet().stream()
          .filter(entry -> receivers.test(queue(entry.getKey()).endpointId()))
          .mapToLong(entry -> entry.getValue().last + 1 - entry.getValue().next)
          .sum();
    }

    /** Stores a result, unless another process stored one of the item before. */
    synchronized void record(Item item, Runnable result) {
      if (line(item.queue()).next == item.number()) {
        result.run();
      }
    }
  }

  /** A step of a delivery, before or after its effect. */
  private enum Step {
    LOOK,
    FIND,
    SEND,
    ARRIVED,
    RECORD,
    RECORDED
  }

  /** One process. It takes each item, until a test has receivers behave otherwise. */
  private class Courier implements DeliveryKind<Item> {
    volatile boolean isDead;
    Predicate<Step> dies = step -> false;

    Future<Attempt> answer(Item item) {
      store.arrived(item);
      return Future.succeededFuture(TAKEN);
    }

    /** Runs a step; a dead process neither runs nor answers it. */
    <T> Future<T> step(Step step, Supplier<Future<T>> action) {
      isDead |= dies.test(step);
      return isDead ? Promise.<T>promise().future() : action.get();
    }

    @Override
    public Future<Mark> readMark() {
      return step(Step.LOOK, () -> Future.succeededFuture(new Mark(0, store.items())));
    }

    @Override
    public Future<List<Pending>> listPending(Optional<Schedule.Queue> after, int most) {
      return Future.succeededFuture(store.list(after, most));
    }

    @Override
    public Future<Optional<Item>> findNext(Schedule.Queue queue) {
      return step(Step.FIND, () -> Future.succeededFuture(store.first(queue)));
    }

    @Override
    public AttemptHistory history(Item item) {
      return item.attempts();
    }

    @Override
    public Future<Attempt> send(Item item) {
      return step(Step.SEND, () -> answer(item))
          .compose(attempt -> step(Step.ARRIVED, () -> Future.succeededFuture(attempt)));
    }

    private Future<Void> record(Item item, Runnable result) {
      return step(
              Step.RECORD,
              () -> {
                store.record(item, result);
                return Future.<Void>succeededFuture();
              })
          .compose(stored -> step(Step.RECORDED, Future::<Void>succeededFuture));
    }

    @Override
    public Future<Void> recordDelivered(Item item, Attempt attempt, long nowMillis) {
      return record(item, () -> store.line(item.queue()).advance());
    }

    @Override
    public Future<Void> recordFailed(Item item, Attempt attempt, long next, long nowMillis) {
      Long first = item.attempts().firstAtMillis();
      AttemptHistory after =
          new AttemptHistory(
              next,
              item.attempts().tries() + 1,
              first == null ? nowMillis : first,
              nowMillis,
              attempt.status(),
              attempt.fault());
      return record(item, () -> store.line(item.queue()).attempts = after);
    }

    @Override
    public Future<Void> giveUp(Item item, Attempt attempt, long nowMillis) {
      return record(
          item,
          () -> {
            Line line = store.line(item.queue());
            line.givenUp = line.last + 1 - line.next;
            line.next = line.last + 1;
          });
    }
  }

  private static final DeliveryEngine.Terms TERMS =
      new DeliveryEngine.Terms(
          "deliver-tests", "delivering tests", 1, 30_000, MOST, 2, MOST / 2, 0, 0);

  private static final DeliveryEngine.Terms LEASED =
      new DeliveryEngine.Terms(
          "deliver-tests", "delivering tests", 1, 30_000, MOST, 2, MOST / 2, 40_000, 20_000);

  private DeliveryEngine<Item> engine(
      DeliveryEngine.Terms terms, DeliveryKind<Item> kind, int maxQueues) {
    DeliveryEngine<Item> engine =
        new DeliveryEngine<>(
            vertx,
            terms,
            kind,
            new DeliveryBackoff(3 * DAY),
            clock,
            nanos::get,
            new Random(1),
            maxQueues);
    engines.add(engine);
    return engine;
  }

  private DeliveryEngine<Item> start(DeliveryKind<Item> kind) {
    DeliveryEngine<Item> engine = engine(TERMS, kind, 1_000);
    engine.start(TestJobs.of(vertx, clock), null);
    return engine;
  }

  /** Moves both clocks, as time does. */
  private void pass(long millis) {
    clock.advance(millis);
    nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  private static Schedule.Queue queue(String receiver) {
    return new Schedule.Queue(receiver, "s");
  }

  @AfterEach
  void stop() throws Exception {
    for (DeliveryEngine<Item> engine : engines) {
      await(engine.stop());
    }
  }

  private static List<Integer> upTo(int last) {
    return IntStream.rangeClosed(1, last).boxed().toList();
  }

  /** Receivers that hang until the test ends their attempts. */
  private class Hanging extends Courier {
    private final List<Promise<Attempt>> hung = new ArrayList<>();
    private final Predicate<String> hangs;

    Hanging(Predicate<String> hangs) {
      this.hangs = hangs;
    }

    @Override
    synchronized Future<Attempt> answer(Item item) {
      if (!hangs.test(item.queue().endpointId())) {
        return super.answer(item);
      }
      Promise<Attempt> attempt = Promise.promise();
      hung.add(attempt);
      return attempt.future();
    }

    synchronized int hung() {
      return hung.size();
    }

    void timeOut() {
      List<Promise<Attempt>> ended;
      synchronized (this) {
        ended = List.copyOf(hung);
        hung.clear();
      }
      ended.forEach(one -> one.complete(new Attempt(null, "no answer within 15 seconds")));
    }
  }

  @Test
  void receiversThatHangLeaveHalfOfTheAttemptsToOthersAfterTheirFirstTimeOut() throws Exception {
    Hanging kind = new Hanging(receiver -> receiver.startsWith("hung"));
    for (int i = 0; i < 100; i++) {
      store.add(queue("hung" + i), 1);
    }
    start(kind);
    // Nothing is known of them yet: each has one time-out with all attempts.
    for (int ended = 0; ended < 100; ended += MOST) {
      int expected = Math.min(MOST, 100 - ended);
      eventually("they hang", () -> kind.hung() == expected);
      kind.timeOut();
    }
    eventually(
        "all failures are stored",
        () ->
            store.list(Optional.empty(), 200).stream()
                .allMatch(pending -> pending.dueMillis() > clock.millis()));
    pass(DAY);
    eventually("half of the attempts hang", () -> kind.hung() == MOST / 2);
    for (int i = 0; i < 50; i++) {
      store.add(queue("well" + i), PER_QUEUE);
    }
    eventually("others are delivered", () -> store.pendingOf(r -> r.startsWith("well")) == 0);
    assertEquals(MOST / 2, kind.hung());
    kind.timeOut();
  }

  @Test
  void moreReceiversThatHangThanFitIntoMemoryLeaveHalfOfTheAttemptsAndOfTheMemoryToOthers()
      throws Exception {
    int receivers = 300;
    Hanging kind = new Hanging(receiver -> receiver.startsWith("hung"));
    for (int i = 0; i < receivers; i++) {
      store.add(queue("hung" + i), 1);
    }
    engine(TERMS, kind, 100).start(TestJobs.of(vertx, clock), null);
    for (int ended = 0; ended < receivers; ended += MOST) {
      int expected = Math.min(MOST, receivers - ended);
      eventually("they hang", () -> kind.hung() == expected);
      kind.timeOut();
    }
    eventually("all failures are stored", () -> store.leastTries() == 1);
    pass(DAY);
    eventually("half of the attempts hang", () -> kind.hung() == MOST / 2);
    for (int i = 0; i < 200; i++) {
      store.add(queue("well" + i), PER_QUEUE);
    }
    eventually("others are delivered", () -> store.pendingOf(r -> r.startsWith("well")) == 0);
    assertEquals(MOST / 2, kind.hung());
    kind.timeOut();
  }

  @Test
  void receiversThatHungBeforeTheProcessStartedLeaveHalfOfTheAttemptsToOthers() throws Exception {
    Hanging kind = new Hanging(receiver -> receiver.startsWith("hung"));
    for (int i = 0; i < 100; i++) {
      store.add(queue("hung" + i), 1);
      store.line(queue("hung" + i)).attempts =
          new AttemptHistory(0, 1, 0L, 0L, null, "no answer within 15 seconds");
    }
    store.add(queue("well"), PER_QUEUE);
    start(kind);
    eventually("the other is delivered", () -> store.taken("well").equals(upTo(PER_QUEUE)));
    eventually("half of the attempts hang", () -> kind.hung() == MOST / 2);
    kind.timeOut();
  }

  @Test
  void aReceiverThatHangsHasAFewAttemptsHoweverManyQueuesItHas() throws Exception {
    Hanging kind = new Hanging(receiver -> receiver.equals("hung"));
    for (int i = 0; i < 100; i++) {
      store.add(new Schedule.Queue("hung", "s" + i), 1);
    }
    store.add(queue("well"), PER_QUEUE);
    start(kind);
    eventually("the other is delivered", () -> store.taken("well").equals(upTo(PER_QUEUE)));
    assertEquals(2, kind.hung());
    kind.timeOut();
  }

  @Test
  void thousandsOfDueReceiversAreServedWithABoundedMemory() throws Exception {
    int receivers = 5_000;
    int maxQueues = 100;
    for (int i = 0; i < receivers; i++) {
      store.add(queue("r" + i), 2);
    }
    AtomicLong most = new AtomicLong();
    DeliveryEngine<Item> engine = engine(TERMS, new Courier(), maxQueues);
    engine.start(TestJobs.of(vertx, clock), null);
    eventually(
        "all are served",
        () -> {
          most.accumulateAndGet(engine.queues(), Math::max);
          return store.pending() == 0;
        });
    for (int i = 0; i < receivers; i++) {
      assertEquals(upTo(2), store.taken("r" + i));
    }
    assertTrue(most.get() <= maxQueues + 2 * MOST, most.toString());
    assertEquals(2L * receivers, engine.delivered());
  }

  @Test
  void moreFailingReceiversThanFitIntoMemoryStarveNoOther() throws Exception {
    Courier kind =
        new Courier() {
          @Override
          Future<Attempt> answer(Item item) {
            return item.queue().endpointId().startsWith("bad")
                ? Future.succeededFuture(REFUSED)
                : super.answer(item);
          }
        };
    for (int i = 0; i < 1_000; i++) {
      store.add(queue("bad" + i), 1);
    }
    engine(TERMS, kind, 100).start(TestJobs.of(vertx, clock), null);
    eventually(
        "all failed once",
        () ->
            store.list(Optional.empty(), 2_000).stream()
                .allMatch(pending -> pending.dueMillis() > clock.millis()));
    store.add(queue("well"), PER_QUEUE);
    eventually("the other is delivered", () -> store.taken("well").equals(upTo(PER_QUEUE)));
    // None of those that left the memory is forgotten.
    eventually(
        "all are tried again",
        () -> {
          pass(TimeUnit.MINUTES.toMillis(1));
          return store.leastTries() > 1;
        });
  }

  @Test
  void scansTakeTheirShareOfTimeAlsoWhileThereIsNoRoom() throws Exception {
    AtomicLong polls = new AtomicLong();
    AtomicLong lists = new AtomicLong();
    Hanging kind =
        new Hanging(receiver -> true) {
          @Override
          public Future<Mark> readMark() {
            polls.incrementAndGet();
            return super.readMark();
          }

          @Override
          public Future<List<Pending>> listPending(Optional<Schedule.Queue> after, int most) {
            lists.incrementAndGet();
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
            return super.listPending(after, most);
          }
        };
    for (int i = 0; i < 100; i++) {
      store.add(queue("r" + i), 1);
    }
    engine(TERMS, kind, 10).start(TestJobs.of(vertx, clock), null);
    long seen = 0;
    for (int scans = 1; scans <= 8; scans++) {
      long polled = polls.get();
      eventually("it polls without a scan", () -> polls.get() > polled + 20);
      assertTrue(lists.get() <= seen + 1, lists + " scans");
      seen = lists.get();
      nanos.addAndGet(TimeUnit.SECONDS.toNanos(21));
    }
    assertEquals(MOST, kind.hung());
    kind.timeOut();
  }

  /** A database of several processes. */
  private Database shared() {
    return new ForwardingDatabase(database) {
      @Override
      public boolean isShared() {
        return true;
      }
    };
  }

  private DeliveryEngine<Item> startLeased(Courier kind, String process) {
    DeliveryEngine<Item> engine = engine(LEASED, kind, 1_000);
    engine.start(TestJobs.of(vertx, clock), new JobLease(shared(), "deliver-tests", process));
    return engine;
  }

  @Test
  void ofTwoProcessesOneDeliversAndTheOtherGoesOnWhenItStops() throws Exception {
    for (int i = 0; i < 50; i++) {
      store.add(queue("r" + i), PER_QUEUE);
    }
    DeliveryEngine<Item> one = startLeased(new Courier(), "one");
    eventually("it delivers", () -> one.delivered() > 0);
    DeliveryEngine<Item> two = startLeased(new Courier(), "two");
    eventually("all is delivered", () -> store.pending() == 0);
    assertEquals(0, two.delivered());
    await(one.stop());
    for (int i = 0; i < 50; i++) {
      store.add(queue("r" + i), 1);
    }
    eventually("the other delivers", () -> store.pending() == 0);
    assertEquals(50, two.delivered());
    for (int i = 0; i < 50; i++) {
      assertEquals(upTo(PER_QUEUE + 1), store.taken("r" + i));
    }
  }

  @Test
  void aProcessThatDiesAtAnyStepLosesNothingAndLeavesTheOrder() throws Exception {
    for (Step step : Step.values()) {
      String receiver = "r-" + step;
      store.add(queue(receiver), PER_QUEUE);
      Courier dying = new Courier();
      AtomicLong steps = new AtomicLong();
      // The third time, after some items were delivered.
      dying.dies = now -> now == step && steps.incrementAndGet() == 3;
      startLeased(dying, "first-" + step);
      eventually("it dies at " + step, () -> dying.isDead);
      Courier next = new Courier();
      DeliveryEngine<Item> successor = startLeased(next, "second-" + step);
      // Its lease keeps the other from delivering until it expires.
      Statement expiry =
          Statement.of("UPDATE webhook_lease SET expires_at = 0 WHERE owner = ?", "first-" + step);
      eventually(
          "the other delivers after " + step,
          () -> {
            database.commit(List.of(expiry));
            return store.pending() == 0;
          });
      List<Integer> arrived = store.taken(receiver);
      assertEquals(upTo(PER_QUEUE), arrived.stream().distinct().toList(), step.toString());
      assertTrue(arrived.size() <= PER_QUEUE + 1, step + ": " + arrived);
      await(successor.stop());
    }
    // Processes that died answer nothing, so nothing of them can be awaited.
    engines.clear();
  }

  @Test
  void aProcessWhoseLeaseIsAboutToEndBeginsNoAttempt() throws Exception {
    DeliveryEngine<Item> engine = startLeased(new Courier(), "one");
    store.add(queue("a"), 1);
    eventually("it delivers", () -> store.pending() == 0);
    failNextCommits(Integer.MAX_VALUE);
    nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(LEASED.leaseMillis()));
    Promise<Boolean> may = Promise.promise();
    engine.run(() -> may.complete(engine.mayBegin()));
    assertFalse(await(may.future()));
    engines.clear();
  }

  /** Receivers that refuse all. */
  private final class Refusing extends Courier {
    volatile boolean isOver;

    @Override
    Future<Attempt> answer(Item item) {
      return isOver ? super.answer(item) : Future.succeededFuture(REFUSED);
    }
  }

  private int tries(String receiver) {
    return store.first(queue(receiver)).map(item -> item.attempts().tries()).orElse(0);
  }

  @Test
  void aClockThatStepsForwardMakesRetriesDueAtTheNextScan() throws Exception {
    Refusing kind = new Refusing();
    store.add(queue("a"), 1);
    start(kind);
    eventually(
        "it failed often enough for a pause of an hour",
        () -> {
          pass(TimeUnit.MINUTES.toMillis(10));
          return tries("a") >= 8;
        });
    kind.isOver = true;
    clock.advance(DAY);
    nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(TERMS.scanMillis()));
    eventually("it is tried again", () -> store.taken("a").equals(upTo(1)));
  }

  @Test
  void aClockThatIsSetBackDelaysARetryByTheStep() throws Exception {
    Refusing kind = new Refusing();
    store.add(queue("a"), 1);
    start(kind);
    eventually("it failed", () -> tries("a") == 1);
    long due = store.list(Optional.empty(), 1).get(0).dueMillis();
    clock.advance(-TimeUnit.HOURS.toMillis(1));
    kind.isOver = true;
    eventually(
        "it is tried again",
        () -> {
          pass(TimeUnit.MINUTES.toMillis(1));
          return store.taken("a").equals(upTo(1));
        });
    assertTrue(clock.millis() >= due);
  }

  @Test
  void aClockThatIsSetBackByMoreThanTheLongestPauseDelaysNoRetry() throws Exception {
    Refusing kind = new Refusing();
    store.add(queue("a"), 1);
    DeliveryEngine<Item> engine = start(kind);
    eventually("it failed", () -> tries("a") == 1);
    clock.advance(-30 * DAY);
    kind.isOver = true;
    eventually(
        "it is tried again",
        () -> {
          nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
          return store.taken("a").equals(upTo(1));
        });
    assertEquals(1, engine.failed());
  }

  @Test
  void aClockThatIsFarAheadGivesNothingUpEarly() throws Exception {
    Refusing kind = new Refusing();
    store.add(queue("a"), 1);
    start(kind);
    eventually("it failed", () -> tries("a") == 1);
    clock.advance(3_650 * DAY);
    eventually(
        "it failed again",
        () -> {
          pass(1_000);
          return tries("a") > 1;
        });
    kind.isOver = true;
    eventually(
        "it is delivered",
        () -> {
          pass(1_000);
          return store.taken("a").equals(upTo(1));
        });
  }

  @Test
  void whatFailsForTheWholePeriodIsGivenUpAndAFinalRefusalAtOnce() throws Exception {
    Courier kind =
        new Courier() {
          @Override
          Future<Attempt> answer(Item item) {
            return Future.succeededFuture(
                item.queue().endpointId().equals("gone") ? new Attempt(410, "gone") : REFUSED);
          }
        };
    store.add(queue("gone"), 2);
    store.add(queue("bad"), 2);
    start(kind);
    eventually("it is given up", () -> store.line(queue("gone")).givenUp == 2);
    long begin = clock.millis();
    eventually(
        "the other is given up",
        () -> {
          pass(TimeUnit.MINUTES.toMillis(10));
          return store.pending() == 0;
        });
    assertEquals(2, store.line(queue("bad")).givenUp);
    assertTrue(clock.millis() - begin > 2 * DAY, "" + (clock.millis() - begin));
  }

  @Test
  void aSkippedAttemptAndAChangedReceiverCountForNothing() throws Exception {
    Courier kind =
        new Courier() {
          private int sent;
          private int stored;

          @Override
          Future<Attempt> answer(Item item) {
            return ++sent == 1 ? Future.succeededFuture(Attempt.SKIPPED) : super.answer(item);
          }

          @Override
          public Future<Void> recordDelivered(Item item, Attempt attempt, long nowMillis) {
            return ++stored == 1
                ? Future.failedFuture(new ReceiverChangedException())
                : super.recordDelivered(item, attempt, nowMillis);
          }
        };
    store.add(queue("a"), 2);
    DeliveryEngine<Item> engine = start(kind);
    eventually(
        "all is delivered",
        () -> {
          pass(1_000);
          return store.pending() == 0;
        });
    assertEquals(List.of(1, 1, 2), store.taken("a"));
    assertEquals(0, engine.failed());
  }

  @Test
  void anItemThatThrowsHoldsUpItsQueueAlone() throws Exception {
    Courier kind =
        new Courier() {
          @Override
          public Future<Optional<Item>> findNext(Schedule.Queue queue) {
            if (queue.endpointId().equals("broken")) {
              throw new IllegalStateException("a row that cannot be read");
            }
            return super.findNext(queue);
          }
        };
    store.add(queue("broken"), 1);
    for (int i = 0; i < 50; i++) {
      store.add(queue("r" + i), PER_QUEUE);
    }
    start(kind);
    eventually("others are delivered", () -> store.pending() == 1);
  }
}
