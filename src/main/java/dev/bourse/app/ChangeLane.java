package dev.bourse.app;

import dev.bourse.store.Change;
import dev.bourse.store.Mirror;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes of one topic on their way into memory: one slice of keys is read at a time, so that
 * nothing read earlier is put in force later, and what cannot be read is read again until it can.
 * However often a key is told of while it waits, it is read once. On one context alone.
 */
final class ChangeLane {
  private static final Logger LOG = LoggerFactory.getLogger(ChangeLane.class);

  /** Keys of one query: it takes some milliseconds, and what it brings some hundred kilobytes. */
  static final int SLICE = 256;

  /** Past this many waiting keys, some 20 MB, comparing everything costs less. */
  static final int MOST_WAITING = 100_000;

  private static final long LEAST_PAUSE_MILLIS = 50;

  /** Half of what a change may take once the store is there again. */
  static final long MOST_PAUSE_MILLIS = 500;

  /** From the so manieth failure in a row on it is more than a blink. */
  private static final int WORTH_A_WARNING = 3;

  /** Whoever runs the lane. */
  interface Owner {
    /** Something is in force that was not. */
    void moved();

    /** What could not be read is read again. */
    void triesAgain();

    /** So many keys were never told of, and differed all the same. */
    void foundUntold(String topic, Set<String> keys);
  }

  private final String topic;
  private final Context context;
  private final LongSupplier nanoTime;
  private final Owner owner;
  private final List<ChangeLane> before;
  private @Nullable Mirror mirror;

  /** Keys that are to be read, and when each was first told of, in the order of their turns. */
  private final Map<String, Long> waiting = new LinkedHashMap<>();

  /** Those that are being read. */
  private final Map<String, Long> reading = new LinkedHashMap<>();

  /** Found by an inspection. */
  private final Set<String> suspects = new HashSet<>();

  /**
   * Told of before the inspection is judged, or changed here: these may differ, however long they
   * take to be in force. At most the topic's keys; empty between inspections.
   */
  private final Set<String> known = new HashSet<>();

  private final Set<String> untold = new HashSet<>();
  private Mirror.@Nullable Comparison comparison;
  private long comparisonSince = Long.MAX_VALUE;
  private Mirror.@Nullable Comparison inspection;
  private long inspectedNanos = Long.MIN_VALUE;
  private boolean isInspected;
  private boolean isBusy;
  private boolean isPausing;
  private boolean isComparisonNext;
  private int failures;

  /** How many keys wait, as others may read it. */
  private volatile int shownWaiting;

  private int sliceKeys = SLICE;

  /**
   * @param nanoTime the monotonic clock
   * @param before lanes whose changes are to be in force first
   */
  ChangeLane(
      String topic, Context context, LongSupplier nanoTime, Owner owner, List<ChangeLane> before) {
    this.topic = topic;
    this.context = context;
    this.nanoTime = nanoTime;
    this.owner = owner;
    this.before = before;
  }

  /** How many keys wait to be read. Called on any thread. */
  int waiting() {
    return shownWaiting;
  }

  String topic() {
    return topic;
  }

  /** From now on there is something to put changes in force in. */
  void start(Mirror into) {
    mirror = into;
    if (comparisonSince != Long.MAX_VALUE) {
      comparison = into.compare();
    }
    run();
  }

  /**
   * Something changed; it is read anew unless it is known as it is since, or came along.
   *
   * @param since grows with each change heard of
   */
  void told(Change change, long since) {
    String key = change.key();
    Mirror into = mirror;
    if (into == null || change.version() == Change.NO_VERSION) {
      add(key, since);
    } else if (into.holds(key, change.version())) {
      note(key);
    } else if (change.row().isEmpty() || before.stream().anyMatch(ChangeLane::holdsUp)) {
      add(key, since);
    } else {
      note(key);
      // Nothing is as old as this meanwhile: the feed tells of the change again, without the row.
      into.show(key, change.row())
          .onComplete(
              shown ->
                  context.runOnContext(
                      v -> {
                        if (shown.failed() || !shown.result()) {
                          add(key, since);
                        }
                      }));
    }
  }

  /**
   * A key is to be read anew.
   *
   * @param since grows with each change heard of
   */
  void add(String key, long since) {
    note(key);
    if (waiting.size() >= MOST_WAITING && !waiting.containsKey(key)) {
      compare(Math.min(since, oldest()));
      waiting.clear();
      return;
    }
    waiting.putIfAbsent(key, since);
    run();
  }

  /** This process changed a key itself: what is stored may be news to it until it is answered. */
  void storedHere(String key) {
    note(key);
    untold.remove(key);
  }

  private void note(String key) {
    if (inspection != null || isInspected) {
      known.add(key);
    }
  }

  /** Everything is to be compared, and what differs read anew. */
  void compare(long since) {
    comparisonSince = Math.min(comparisonSince, since);
    // What was compared already may have changed since.
    comparison = mirror == null ? null : mirror.compare();
    inspection = null;
    forgetInspected();
    run();
  }

  /** Everything is to be compared; nothing should differ that the feed does not tell of as well. */
  void inspect() {
    if (mirror != null && inspection == null) {
      forgetInspected();
      known.addAll(waiting.keySet());
      known.addAll(reading.keySet());
      inspection = mirror.compare();
      run();
    }
  }

  private void forgetInspected() {
    isInspected = false;
    suspects.clear();
    known.clear();
  }

  /** All that was stored at a moment has been told of; what differed then was not. */
  void heardUntil(long nanoTime) {
    if (isInspected && nanoTime - inspectedNanos > 0) {
      suspects.removeAll(known);
      untold.addAll(suspects);
      suspects.forEach(key -> waiting.putIfAbsent(key, Long.MAX_VALUE - 1));
      forgetInspected();
      run();
    }
  }

  /** When the oldest change was told of that is not in force; the highest number without one. */
  long oldest() {
    long oldest = comparisonSince;
    for (long since : waiting.values()) {
      oldest = Math.min(oldest, since);
    }
    for (long since : reading.values()) {
      oldest = Math.min(oldest, since);
    }
    return oldest;
  }

  private boolean holdsUp() {
    return !isPausing && (isBusy || !waiting.isEmpty() || comparison != null);
  }

  /** Takes the next step when none is under way. */
  void run() {
    shownWaiting = waiting.size();
    Mirror into = mirror;
    if (into == null || isBusy || isPausing || before.stream().anyMatch(ChangeLane::holdsUp)) {
      return;
    }
    Mirror.Comparison comparing = comparison == null ? inspection : comparison;
    if (comparing != null && (isComparisonNext || waiting.isEmpty())) {
      isComparisonNext = false;
      isBusy = true;
      begin(comparing::next, done -> compared(comparing, done));
    } else if (!waiting.isEmpty()) {
      isComparisonNext = true;
      isBusy = true;
      take();
      List<String> keys = List.copyOf(reading.keySet());
      begin(() -> into.refresh(keys), this::read);
    }
  }

  private interface Step<T> {
    void done(AsyncResult<T> outcome);
  }

  /** Whatever the work throws must not stop the lane. */
  private <T> void begin(Supplier<Future<T>> work, Step<T> step) {
    Future.succeededFuture()
        .compose(v -> work.get())
        .onComplete(
            outcome ->
                context.runOnContext(
                    v -> {
                      isBusy = false;
                      step.done(outcome);
                      run();
                      owner.moved();
                    }));
  }

  private void take() {
    Iterator<Map.Entry<String, Long>> next = waiting.entrySet().iterator();
    while (next.hasNext() && reading.size() < sliceKeys) {
      Map.Entry<String, Long> entry = next.next();
      reading.put(entry.getKey(), entry.getValue());
      next.remove();
    }
  }

  private void read(AsyncResult<Mirror.Refreshed> outcome) {
    Map<String, Long> slice = new LinkedHashMap<>(reading);
    reading.clear();
    if (outcome.failed()) {
      // Smaller each time, and behind the others: a row nobody can read must not hold them up.
      sliceKeys = Math.max(1, sliceKeys / 2);
      slice.forEach((key, since) -> waiting.merge(key, since, Math::min));
      failed(outcome.cause());
      return;
    }
    Mirror.Refreshed refreshed = outcome.result();
    sliceKeys = Math.min(SLICE, sliceKeys * 2);
    Set<String> found = new LinkedHashSet<>(refreshed.changed());
    found.retainAll(untold);
    untold.removeAll(slice.keySet());
    if (!found.isEmpty()) {
      owner.foundUntold(topic, found);
    }
    if (refreshed.left().isEmpty()) {
      failures = 0;
    } else {
      refreshed.left().forEach(key -> waiting.merge(key, slice.getOrDefault(key, 0L), Math::min));
      if (waiting.size() <= refreshed.left().size()) {
        failed(new IllegalStateException(refreshed.left() + " cannot be put in force yet"));
      }
    }
  }

  private void compared(Mirror.Comparison comparing, AsyncResult<Optional<List<String>>> outcome) {
    if (outcome.failed()) {
      failed(outcome.cause());
      return;
    }
    failures = 0;
    if (comparing != comparison && comparing != inspection) {
      // It was begun anew meanwhile.
      return;
    }
    List<String> differing = outcome.result().orElse(List.of());
    boolean isOver = outcome.result().isEmpty();
    if (comparing == comparison) {
      long since = comparisonSince;
      new ArrayList<>(differing).forEach(key -> waiting.merge(key, since, Math::min));
      if (isOver) {
        comparison = null;
        comparisonSince = Long.MAX_VALUE;
      }
    } else {
      suspects.addAll(differing);
      if (isOver || suspects.size() > MOST_WAITING) {
        inspection = null;
        isInspected = true;
        inspectedNanos = nanoTime.getAsLong();
      }
    }
  }

  private void failed(Throwable cause) {
    failures++;
    owner.triesAgain();
    if (failures == WORTH_A_WARNING) {
      LOG.warn("changes of {} cannot be followed and are tried again: {}", topic, cause.toString());
    }
    isPausing = true;
    long pause = Math.min(MOST_PAUSE_MILLIS, LEAST_PAUSE_MILLIS << Math.min(failures, 10));
    context
        .owner()
        .setTimer(
            pause,
            timer ->
                context.runOnContext(
                    v -> {
                      isPausing = false;
                      run();
                    }));
  }
}
