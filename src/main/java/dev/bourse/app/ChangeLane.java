package dev.bourse.app;

import dev.bourse.store.Change;
import dev.bourse.store.Mirror;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
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
 * Applies the changes of one topic to memory. One slice of keys is read at a time, so that a later
 * read never loses to an earlier one, and failed reads are retried until they succeed. A key is
 * read once, however often it changes while it waits. Confined to one context.
 */
final class ChangeLane {
  private static final Logger LOG = LoggerFactory.getLogger(ChangeLane.class);

  /** Keys of one query: it takes some milliseconds and returns some hundred kilobytes. */
  static final int SLICE = 256;

  /** Waiting keys, some 20 MB, beyond which comparing everything costs less. */
  static final int MOST_WAITING = 100_000;

  private static final long LEAST_PAUSE_MILLIS = 50;

  /**
   * The longest pause between retries: half of the time allowed for a change after the store is
   * back.
   */
  static final long MOST_PAUSE_MILLIS = 500;

  /**
   * The pause before a comparison that was requested during another one. Topics that wait for this
   * one are read meanwhile.
   */
  private static final long COMPARISON_PAUSE_MILLIS = 500;

  /** Consecutive failures that are worth a warning. */
  private static final int WORTH_A_WARNING = 3;

  /** The owner of the lane. */
  interface Owner {
    /** Called when more changes have been applied. */
    void applied();

    /** Called when a failed read is retried. */
    void retried();

    /**
     * Called when an inspection found keys that differ although the change feed never reported
     * them.
     */
    void missedChanges(String topic, Set<String> keys);
  }

  private final String topic;
  private final Context context;
  private final LongSupplier nanoTime;
  private final Owner owner;
  private final List<ChangeLane> before;
  private @Nullable Mirror mirror;

  /** The keys to read, each with the number of its first report, in the order of their turns. */
  private final Map<String, Long> waiting = new LinkedHashMap<>();

  /** The keys that are being read. */
  private final Map<String, Long> reading = new LinkedHashMap<>();

  /** Keys that an inspection found to differ. */
  private final Set<String> suspects = new HashSet<>();

  /**
   * Keys reported before the inspection is judged, or changed by this process: these may differ
   * until they are applied. At most the topic's keys; empty between inspections.
   */
  private final Set<String> known = new HashSet<>();

  /** Suspects that the change feed has not reported. */
  private final Set<String> unreported = new HashSet<>();

  private Mirror.@Nullable Comparison comparison;
  private long comparisonSince = Long.MAX_VALUE;

  /** The first report during the comparison that needs another one; the highest number if none. */
  private long nextComparisonSince = Long.MAX_VALUE;

  private Mirror.@Nullable Comparison inspection;

  /** The end of the inspection, or of the comparison that replaced it. */
  private Promise<Void> inspected = Promise.promise();

  private long inspectedNanos = Long.MIN_VALUE;
  private boolean isInspected;
  private boolean isBusy;
  private boolean isPausing;
  private boolean isComparisonNext;
  private boolean isNextPausing;
  private int failures;

  /** The number of waiting keys, for other threads. */
  private volatile int shownWaiting;

  private int sliceKeys = SLICE;

  /**
   * @param nanoTime the monotonic clock
   * @param before lanes whose changes must be applied first
   */
  ChangeLane(
      String topic, Context context, LongSupplier nanoTime, Owner owner, List<ChangeLane> before) {
    this.topic = topic;
    this.context = context;
    this.nanoTime = nanoTime;
    this.owner = owner;
    this.before = before;
  }

  /** The number of keys waiting to be read. Thread-safe. */
  int waiting() {
    return shownWaiting;
  }

  String topic() {
    return topic;
  }

  /** Starts to apply changes. */
  void start(Mirror into) {
    mirror = into;
    if (comparisonSince != Long.MAX_VALUE) {
      beginComparison();
    }
    run();
  }

  /**
   * Handles a reported change: reads the key again, unless the change carries the row or memory is
   * current already.
   *
   * @param since grows with each report
   */
  void reported(Change change, long since) {
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
      // The owner applies the row within its next turn, so the change does not count as waiting.
      into.apply(key, change.row())
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
   * Schedules a key to be read again.
   *
   * @param since grows with each report
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

  /**
   * Notes a key that this process changed itself: memory may lag behind the store until the change
   * is answered.
   */
  void noteLocalWrite(String key) {
    note(key);
    unreported.remove(key);
  }

  private void note(String key) {
    if (inspection != null || isInspected) {
      known.add(key);
    }
  }

  /**
   * Schedules a comparison of everything; keys that differ are read again. Another one follows a
   * comparison in progress, because rows that it has compared may have changed since. It is not
   * started over: frequent reports would never let it end.
   *
   * @param since grows with each report
   */
  void compare(long since) {
    comparisonSince = Math.min(comparisonSince, since);
    if (comparison != null) {
      nextComparisonSince = Math.min(nextComparisonSince, since);
    }
    beginComparison();
    inspection = null;
    forgetInspected();
    run();
  }

  /**
   * Starts an inspection: a comparison in which only keys reported by the feed should differ.
   * Succeeds when every row was compared, and fails if a slice could not be read; the inspection
   * goes on all the same.
   */
  Future<Void> inspect() {
    if (mirror == null) {
      return Future.succeededFuture();
    }
    if (inspected.future().isComplete()) {
      inspected = Promise.promise();
    }
    if (inspection == null) {
      forgetInspected();
      known.addAll(waiting.keySet());
      known.addAll(reading.keySet());
      inspection = mirror.compare();
      run();
    }
    return inspected.future();
  }

  private void forgetInspected() {
    isInspected = false;
    suspects.clear();
    known.clear();
  }

  /**
   * Records that the feed has reported everything stored before this moment, so that a remaining
   * difference was missed by it.
   */
  void heardUntil(long nanoTime) {
    if (isInspected && nanoTime - inspectedNanos > 0) {
      suspects.removeAll(known);
      unreported.addAll(suspects);
      suspects.forEach(key -> waiting.putIfAbsent(key, Long.MAX_VALUE - 1));
      forgetInspected();
      run();
    }
  }

  /** The number of the oldest report that is not applied; the highest number if there is none. */
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

  /** Takes the next step unless one is in progress. */
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

  /** Catches every failure of the work, which must not stop the lane. */
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
                      owner.applied();
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
      // Retries with smaller slices, behind the other keys: an unreadable row must not block them.
      sliceKeys = Math.max(1, sliceKeys / 2);
      slice.forEach((key, since) -> waiting.merge(key, since, Math::min));
      failed(outcome.cause());
      return;
    }
    Mirror.Refreshed refreshed = outcome.result();
    sliceKeys = Math.min(SLICE, sliceKeys * 2);
    Set<String> found = new LinkedHashSet<>(refreshed.changed());
    found.retainAll(unreported);
    unreported.removeAll(slice.keySet());
    if (!found.isEmpty()) {
      owner.missedChanges(topic, found);
    }
    if (refreshed.left().isEmpty()) {
      failures = 0;
    } else {
      refreshed.left().forEach(key -> waiting.merge(key, slice.getOrDefault(key, 0L), Math::min));
      if (waiting.size() <= refreshed.left().size()) {
        failed(new IllegalStateException(refreshed.left() + " cannot be applied yet"));
      }
    }
  }

  private void compared(Mirror.Comparison comparing, AsyncResult<Optional<List<String>>> outcome) {
    if (outcome.failed()) {
      inspected.tryFail(outcome.cause());
      failed(outcome.cause());
      return;
    }
    failures = 0;
    if (comparing != comparison && comparing != inspection) {
      // A comparison has replaced the inspection meanwhile.
      return;
    }
    List<String> differing = outcome.result().orElse(List.of());
    boolean isOver = outcome.result().isEmpty();
    if (comparing == comparison) {
      long since = comparisonSince;
      new ArrayList<>(differing).forEach(key -> waiting.merge(key, since, Math::min));
      if (isOver) {
        endComparison();
      }
    } else {
      suspects.addAll(differing);
      if (isOver || suspects.size() > MOST_WAITING) {
        inspection = null;
        isInspected = true;
        inspectedNanos = nanoTime.getAsLong();
        inspected.tryComplete();
      }
    }
  }

  private void endComparison() {
    comparison = null;
    comparisonSince = nextComparisonSince;
    nextComparisonSince = Long.MAX_VALUE;
    if (comparisonSince != Long.MAX_VALUE) {
      isNextPausing = true;
      context
          .owner()
          .setTimer(COMPARISON_PAUSE_MILLIS, timer -> context.runOnContext(v -> beginNext()));
    }
    if (inspection == null && comparisonSince == Long.MAX_VALUE) {
      inspected.tryComplete();
    }
  }

  private void beginNext() {
    isNextPausing = false;
    beginComparison();
    run();
  }

  private void beginComparison() {
    Mirror into = mirror;
    if (into != null && comparison == null && !isNextPausing) {
      comparison = into.compare();
    }
  }

  private void failed(Throwable cause) {
    failures++;
    owner.retried();
    if (failures == WORTH_A_WARNING) {
      LOG.warn("changes of {} could not be read and will be retried: {}", topic, cause.toString());
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
