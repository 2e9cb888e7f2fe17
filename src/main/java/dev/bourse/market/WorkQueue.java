package dev.bourse.market;

import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A queue of work on machines, with a limit of running work. Work that failed before has a smaller
 * limit of its own and waits behind other work: a dead machine keeps its place until the call times
 * out, and a few dead machines would otherwise hold up all others. Each owner may have a limit too,
 * in the whole and in the work that failed before; owners take turns. Used on one context.
 */
final class WorkQueue implements WorkPool.Turns {
  private final int atOnce;
  private final int ofOneAtOnce;
  private final Lane first;
  private final Lane again;
  private boolean isStarting;
  private boolean stopped;

  /** A lane of work: each owner's work in its order, the owner that waits longest first. */
  private final class Lane {
    private final int laneAtOnce;
    private final int ofOneInLane;
    private final Map<String, ArrayDeque<Work>> waiting = new LinkedHashMap<>();
    private final Map<String, Integer> runningOf = new HashMap<>();
    private int running;

    Lane(int laneAtOnce, int ofOneInLane) {
      this.laneAtOnce = laneAtOnce;
      this.ofOneInLane = ofOneInLane;
    }

    void add(Work work) {
      waiting.computeIfAbsent(work.owner(), owner -> new ArrayDeque<>()).add(work);
    }

    /** Returns the next work, skipping owners that have reached their limit. */
    @Nullable Work poll() {
      Iterator<Map.Entry<String, ArrayDeque<Work>>> owners = waiting.entrySet().iterator();
      while (running < laneAtOnce && owners.hasNext()) {
        Map.Entry<String, ArrayDeque<Work>> entry = owners.next();
        if (hasRoom(entry.getKey())) {
          ArrayDeque<Work> rest = entry.getValue();
          Work next = rest.remove();
          owners.remove();
          if (!rest.isEmpty()) {
            waiting.put(next.owner(), rest);
          }
          return next;
        }
      }
      return null;
    }

    private boolean hasRoom(String owner) {
      return runningOf(owner) < ofOneInLane
          && first.runningOf(owner) + again.runningOf(owner) < ofOneAtOnce;
    }

    private int runningOf(String owner) {
      return runningOf.getOrDefault(owner, 0);
    }

    void begin(Work work) {
      running++;
      runningOf.merge(work.owner(), 1, Integer::sum);
    }

    void end(Work work) {
      running--;
      runningOf.computeIfPresent(work.owner(), (owner, n) -> n > 1 ? n - 1 : null);
    }
  }

  private record Work(String owner, Supplier<Future<Void>> todo) {}

  /**
   * @param atOnce the limit of running work
   * @param againAtOnce the limit of running work that failed before
   */
  WorkQueue(int atOnce, int againAtOnce) {
    this(atOnce, againAtOnce, atOnce);
  }

  /**
   * @param ofOneAtOnce the limit of one owner's running work, with the same share of the work that
   *     failed before; equal to {@code atOnce} if owners do not matter
   */
  WorkQueue(int atOnce, int againAtOnce, int ofOneAtOnce) {
    this.atOnce = atOnce;
    this.ofOneAtOnce = ofOneAtOnce;
    this.first = new Lane(atOnce, ofOneAtOnce);
    this.again = new Lane(againAtOnce, Math.max(1, againAtOnce * ofOneAtOnce / atOnce));
  }

  /** Runs work as soon as a place is free. */
  void add(boolean failedBefore, Supplier<Future<Void>> work) {
    add("", failedBefore, work);
  }

  /** Runs an owner's work as soon as a place is free. */
  @Override
  public void add(String owner, boolean failedBefore, Supplier<Future<Void>> work) {
    if (stopped) {
      return;
    }
    (failedBefore ? again : first).add(new Work(ofOneAtOnce < atOnce ? owner : "", work));
    start();
  }

  /**
   * Starts work in a loop, because work that completes at once would otherwise nest calls as deep
   * as the queue.
   */
  private void start() {
    if (isStarting) {
      return;
    }
    isStarting = true;
    while (!stopped && first.running + again.running < atOnce) {
      Work next = first.poll();
      if (next != null) {
        run(first, next);
        continue;
      }
      next = again.poll();
      if (next == null) {
        break;
      }
      run(again, next);
    }
    isStarting = false;
  }

  private void run(Lane lane, Work work) {
    lane.begin(work);
    Future.succeededFuture()
        .compose(go -> work.todo().get())
        .onComplete(
            done -> {
              lane.end(work);
              start();
            });
  }

  @Override
  public void stop() {
    stopped = true;
    first.waiting.clear();
    again.waiting.clear();
  }
}
