package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.Change;
import dev.bourse.store.Mirror;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The application of one topic's changes to memory, despite failures. */
class ChangeLaneTest {
  /** A poll without a pause would compete with the work it waits for. */
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();
  private final Set<String> missed = ConcurrentHashMap.newKeySet();
  private final Rows rows = new Rows();
  private final ChangeLane lane = lane(List.of());

  private ChangeLane lane(List<ChangeLane> before) {
    return new ChangeLane(
        "things",
        context,
        System::nanoTime,
        new ChangeLane.Owner() {
          @Override
          public void applied() {
            // No test needs it.
          }

          @Override
          public void retried() {
            // No test needs it.
          }

          @Override
          public void missedChanges(String topic, Set<String> keys) {
            missed.addAll(keys);
          }
        },
        before);
  }

  /** Numbers by key, stored and in memory; a test decides when a read completes. */
  private static final class Rows implements Mirror {
    final Map<String, Integer> stored = new ConcurrentHashMap<>();
    final Map<String, Integer> held = new ConcurrentHashMap<>();
    final List<List<String>> readings = new CopyOnWriteArrayList<>();
    final Set<String> unreadable = ConcurrentHashMap.newKeySet();
    final Set<String> notYet = ConcurrentHashMap.newKeySet();
    final AtomicInteger failures = new AtomicInteger();
    volatile Promise<Void> gate = open();
    volatile Promise<Void> comparisonGate = open();

    /** Runs within each comparison. */
    volatile Runnable meanwhile = () -> {};

    final AtomicInteger comparisons = new AtomicInteger();
    final AtomicInteger compared = new AtomicInteger();

    /** Slices whose comparison has begun. */
    final AtomicInteger slices = new AtomicInteger();

    private static Promise<Void> open() {
      Promise<Void> gate = Promise.promise();
      gate.complete();
      return gate;
    }

    @Override
    public Future<Refreshed> refresh(List<String> keys) {
      Map<String, Integer> read = Map.copyOf(stored);
      readings.add(keys);
      if (failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
        throw new IllegalStateException("the store is away");
      }
      if (keys.stream().anyMatch(unreadable::contains)) {
        return Future.failedFuture("one of them cannot be read");
      }
      return gate.future()
          .map(
              v -> {
                Set<String> changed = new HashSet<>();
                Set<String> left = new HashSet<>();
                for (String key : keys) {
                  Integer now = read.getOrDefault(key, 0);
                  if (notYet.contains(key)) {
                    left.add(key);
                  } else if (!now.equals(held.put(key, now))) {
                    changed.add(key);
                  }
                }
                return new Refreshed(changed, left);
              });
    }

    @Override
    public boolean holds(String key, long version) {
      return held.getOrDefault(key, 0) >= version;
    }

    @Override
    public Future<Boolean> apply(String key, String row) {
      if (!row.matches("[0-9]+")) {
        return Future.succeededFuture(false);
      }
      held.merge(key, Integer.valueOf(row), Math::max);
      return Future.succeededFuture(true);
    }

    @Override
    public Comparison compare() {
      comparisons.incrementAndGet();
      List<String> all = new ArrayList<>(stored.keySet());
      return () -> {
        meanwhile.run();
        if (all.isEmpty()) {
          compared.incrementAndGet();
          return Future.succeededFuture(Optional.empty());
        }
        Future<Void> opened = comparisonGate.future();
        slices.incrementAndGet();
        return opened.map(
            v -> {
              String key = all.remove(0);
              return Optional.of(
                  Objects.equals(stored.get(key), held.get(key)) ? List.of() : List.of(key));
            });
      };
    }
  }

  @AfterEach
  void close() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private static void poll(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.call()) {
      assertTrue(System.nanoTime() < deadline, () -> what + " did not come to pass");
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  private void reportChange(Change change) {
    context.runOnContext(v -> lane.reported(change, 1));
  }

  private void report(String key) {
    context.runOnContext(v -> lane.add(key, 1));
  }

  private void start() {
    context.runOnContext(v -> lane.start(rows));
  }

  @Test
  void whatWasToldBeforeThePartsWereThereIsReadOnceTheyAre() throws Exception {
    rows.stored.put("a", 1);
    report("a");
    report("a");
    start();
    poll("it is held", () -> rows.held.equals(rows.stored));
    assertEquals(List.of(List.of("a")), rows.readings, "once");
  }

  @Test
  void aRowThatCameAlongIsPutInForceAndNothingIsRead() throws Exception {
    start();
    reportChange(new Change("things", "a", 7, "7"));
    poll("it is held", () -> rows.held.equals(Map.of("a", 7)));
    reportChange(new Change("things", "a", 7, ""));
    reportChange(new Change("things", "a", 6, ""));
    rows.stored.put("b", 1);
    report("b");
    poll("the next key is read", () -> rows.held.containsKey("b"));
    assertEquals(List.of(List.of("b")), rows.readings);
  }

  @Test
  void aVersionThatIsNotHeldIsRead() throws Exception {
    rows.held.put("a", 6);
    rows.stored.put("a", 7);
    start();
    reportChange(new Change("things", "a", 7, ""));
    poll("it is held", () -> rows.held.equals(rows.stored));
  }

  @Test
  void aRowThatCannotBePutInForceIsRead() throws Exception {
    rows.stored.put("a", 7);
    start();
    reportChange(new Change("things", "a", 7, "of a release to come"));
    poll("it is held", () -> rows.held.equals(rows.stored));
  }

  @Test
  void aReadingThatFailsIsDoneAgainUntilItHolds() throws Exception {
    rows.failures.set(12);
    rows.stored.put("a", 1);
    start();
    report("a");
    poll("it is held", () -> rows.held.equals(rows.stored));
    assertEquals(13, rows.readings.size());
  }

  @Test
  void aChangeToldWhileItsKeyIsReadIsReadAfterThatSoThatTheNewestIsHeld() throws Exception {
    rows.gate = Promise.promise();
    rows.stored.put("a", 1);
    start();
    report("a");
    poll("it is being read", () -> rows.readings.size() == 1);
    rows.stored.put("a", 2);
    report("a");
    Promise<Void> gate = rows.gate;
    context.runOnContext(v -> gate.complete());
    poll("the newest is held", () -> rows.held.equals(Map.of("a", 2)));
    assertEquals(2, rows.readings.size());
  }

  @Test
  void thousandsOfKeysAreReadInSlices() throws Exception {
    for (int i = 0; i < 5_000; i++) {
      rows.stored.put("k" + i, i);
      report("k" + i);
    }
    start();
    poll("all are held", () -> rows.held.equals(rows.stored));
    assertTrue(rows.readings.stream().allMatch(slice -> slice.size() <= ChangeLane.SLICE));
    assertTrue(rows.readings.size() <= 21, rows.readings.size() + " readings");
  }

  @Test
  void aKeyThatCannotBeReadKeepsNoOtherFromBeingRead() throws Exception {
    rows.unreadable.add("k17");
    for (int i = 0; i < 600; i++) {
      rows.stored.put("k" + i, i);
      report("k" + i);
    }
    start();
    poll("all others are held", () -> rows.held.size() == 599);
    rows.unreadable.clear();
    poll("and it, too, once it can", () -> rows.held.equals(rows.stored));
  }

  @Test
  void whatCannotBePutInForceYetIsTriedAgainBehindTheOthers() throws Exception {
    rows.notYet.add("a");
    rows.stored.put("a", 1);
    rows.stored.put("b", 2);
    start();
    report("a");
    report("b");
    poll("the other is held", () -> rows.held.equals(Map.of("b", 2)));
    rows.notYet.clear();
    poll("both are held", () -> rows.held.equals(rows.stored));
  }

  @Test
  void moreKeysThanMayWaitAreComparedInstead() throws Exception {
    rows.stored.put("a", 1);
    context.runOnContext(
        v -> {
          for (int i = 0; i <= ChangeLane.MOST_WAITING; i++) {
            lane.add("k" + i, 1);
          }
          lane.add("a", 1);
        });
    start();
    poll("it is held", () -> Integer.valueOf(1).equals(rows.held.get("a")));
    assertEquals(1, rows.comparisons.get());
    assertTrue(rows.readings.size() < 10, rows.readings.size() + " readings");
  }

  @Test
  void whatAComparisonFindsIsReadAnew() throws Exception {
    rows.stored.put("a", 1);
    rows.stored.put("b", 2);
    rows.held.put("b", 2);
    start();
    context.runOnContext(v -> lane.compare(1));
    poll("it is held", () -> rows.held.equals(rows.stored));
    assertEquals(List.of(List.of("a")), rows.readings);
    assertEquals(Set.of(), missed);
  }

  /** A comparison that every request starts over would not end while requests are frequent. */
  @Test
  void aComparisonThatIsRequestedDuringAnotherFollowsIt() throws Exception {
    rows.stored.put("a", 1);
    Promise<Void> gate = closeComparisons();
    start();
    context.runOnContext(v -> lane.compare(3));
    poll("it is comparing", () -> rows.comparisons.get() == 1);
    context.runOnContext(v -> lane.compare(5));
    context.runOnContext(v -> lane.compare(7));
    AtomicLong oldest = new AtomicLong();
    Callable<Boolean> isApplied =
        () -> {
          context.runOnContext(v -> oldest.set(lane.oldest()));
          return oldest.get() == Long.MAX_VALUE;
        };
    poll("the first report counts as not applied", () -> !isApplied.call() && oldest.get() == 3);
    gate.complete();
    poll("everything is applied", isApplied);
    assertEquals(2, rows.comparisons.get());
    assertEquals(2, rows.compared.get());
    assertEquals(rows.stored, rows.held);
  }

  /** Without a pause a process of a later release could keep all clusters of others unread. */
  @Test
  void topicsBehindALaneAreReadBetweenItsComparisons() throws Exception {
    Rows clusters = new Rows();
    clusters.stored.put("a", 1);
    ChangeLane behind = lane(List.of(lane));
    // Another comparison is requested during each.
    rows.meanwhile = () -> lane.compare(1);
    start();
    context.runOnContext(v -> lane.compare(1));
    context.runOnContext(v -> behind.start(clusters));
    poll(
        "the row behind is held",
        () -> {
          context.runOnContext(v -> behind.add("a", 1));
          return clusters.held.equals(clusters.stored);
        });
    rows.meanwhile = () -> {};
  }

  @Test
  void whatAnInspectionFindsAndNobodyTellsOfIsReadAndReported() throws Exception {
    rows.stored.put("a", 1);
    rows.stored.put("b", 2);
    start();
    context.runOnContext(v -> lane.inspect());
    // Its change was in flight.
    poll(
        "it is held",
        () -> {
          report("b");
          return Integer.valueOf(2).equals(rows.held.get("b"));
        });
    poll(
        "the other is found",
        () -> {
          context.runOnContext(v -> lane.heardUntil(System.nanoTime()));
          return !missed.isEmpty();
        });
    assertEquals(Set.of("a"), missed);
    assertEquals(rows.stored, rows.held);
  }

  /** Starts an inspection; returns its end. */
  private Future<Void> startInspection() {
    Promise<Void> ended = Promise.promise();
    context.runOnContext(v -> lane.inspect().onComplete(ended));
    return ended.future();
  }

  private Promise<Void> closeComparisons() {
    Promise<Void> closed = Promise.promise();
    rows.comparisonGate = closed;
    return closed;
  }

  @Test
  void anInspectionEndsWhenEveryRowWasCompared() throws Exception {
    rows.stored.put("a", 1);
    Promise<Void> gate = closeComparisons();
    start();
    Future<Void> first = startInspection();
    poll("it is comparing", () -> rows.comparisons.get() == 1);
    assertFalse(first.isComplete());
    Future<Void> second = startInspection();
    gate.complete();
    poll("both have ended", () -> first.succeeded() && second.succeeded());
    assertEquals(1, rows.compared.get(), "the second request joined the first");
  }

  @Test
  void anInspectionThatCannotReadARowFailsAndGoesOn() throws Exception {
    rows.stored.put("a", 1);
    Promise<Void> gate = closeComparisons();
    start();
    Future<Void> failed = startInspection();
    poll("it is comparing", () -> rows.slices.get() == 1);
    rows.comparisonGate = Rows.open();
    gate.fail("the store is away");
    poll("it has failed", failed::failed);
    poll("all is compared", () -> rows.compared.get() == 1);
    Future<Void> next = startInspection();
    poll("the next one succeeds", next::succeeded);
  }

  @Test
  void anInspectionThatAComparisonReplacesEndsWithIt() throws Exception {
    rows.stored.put("a", 1);
    Promise<Void> gate = closeComparisons();
    start();
    Future<Void> replaced = startInspection();
    context.runOnContext(v -> lane.compare(1));
    poll("the comparison is there", () -> rows.comparisons.get() == 2);
    assertFalse(replaced.isComplete());
    gate.complete();
    poll("it has ended", replaced::succeeded);
    poll("it is held", () -> rows.held.equals(rows.stored));
  }

  /** Inspects, and waits until everything was compared. */
  private void inspect() throws Exception {
    context.runOnContext(v -> lane.inspect());
    poll("all is compared", () -> rows.compared.get() == 1);
  }

  /** Judges the inspection, and waits until it has reported something. */
  private void judge() throws Exception {
    poll(
        "something is reported",
        () -> {
          context.runOnContext(v -> lane.heardUntil(System.nanoTime()));
          return !missed.isEmpty();
        });
  }

  @Test
  void whatAnInspectionFindsAndIsToldWithItsRowIsNotReportedThoughItChangesOnceMore()
      throws Exception {
    rows.stored.put("a", 7);
    rows.stored.put("b", 1);
    start();
    inspect();
    reportChange(new Change("things", "a", 7, "7"));
    poll("it is held", () -> rows.held.equals(Map.of("a", 7)));
    // The feed cannot have reported this one yet.
    rows.stored.put("a", 8);
    judge();
    assertEquals(Set.of("b"), missed);
    assertEquals(List.of(List.of("b")), rows.readings);
  }

  @Test
  void whatWasToldBeforeAnInspectionAndIsNotInForceYetIsNotReported() throws Exception {
    rows.unreadable.add("a");
    rows.stored.put("a", 1);
    rows.stored.put("b", 2);
    start();
    report("a");
    poll("a reading of it fails", () -> !rows.readings.isEmpty());
    inspect();
    // Otherwise it would fail the reads of other keys in the same slice.
    rows.unreadable.clear();
    judge();
    poll("both are held", () -> rows.held.equals(rows.stored));
    // Read after the previous read's reports.
    rows.stored.put("c", 3);
    report("c");
    poll("the next is held", () -> rows.held.equals(rows.stored));
    assertEquals(Set.of("b"), missed);
  }

  @Test
  void whatThisProcessStoredItselfIsNotReportedThoughAnotherChangesItNext() throws Exception {
    rows.stored.put("a", 1);
    rows.stored.put("b", 2);
    start();
    inspect();
    context.runOnContext(v -> lane.noteLocalWrite("a"));
    rows.held.put("a", 1);
    rows.stored.put("a", 2);
    judge();
    assertEquals(Set.of("b"), missed);
  }

  @Test
  void aLaneWaitsForThoseBeforeItButNotForOnesThatCannotGoOn() throws Exception {
    Rows later = new Rows();
    ChangeLane after = lane(List.of(lane));
    rows.gate = Promise.promise();
    rows.stored.put("pool", 1);
    later.stored.put("cluster", 1);
    start();
    report("pool");
    poll("the first is being read", () -> rows.readings.size() == 1);
    Promise<Void> looked = Promise.promise();
    context.runOnContext(
        v -> {
          after.start(later);
          after.add("cluster", 2);
          context.runOnContext(then -> looked.complete());
        });
    looked.future().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
    assertEquals(List.of(), later.readings);
    rows.failures.set(Integer.MAX_VALUE);
    Promise<Void> gate = rows.gate;
    context.runOnContext(v -> gate.complete());
    report("pool");
    poll(
        "the second is read",
        () -> {
          context.runOnContext(v -> after.run());
          return !later.readings.isEmpty();
        });
  }
}
