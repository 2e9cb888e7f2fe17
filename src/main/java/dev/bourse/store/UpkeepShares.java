package dev.bourse.store;

import dev.bourse.core.Ids;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Divides upkeep among the processes of a store, so that each task is done by one of them. Every
 * process says in a row of its own that it is there, for a while, and which tasks it does; the
 * tasks are dealt out to those who are there, in an order that all compute alike.
 *
 * <p>This is a matter of cost and never of correctness: each task has to be right when two
 * processes do it at once, and so they do while one of them has not heard of the other, after a
 * freeze, or beside a release that knows nothing of this. Who does not know does the work. A task
 * rests only until the row of a process that is gone has expired. Whether it has is judged by the
 * clock of the database; should that be set, some tasks are done twice, or rest as long as a row
 * counts at most.
 */
public final class UpkeepShares {
  /** Less often is not worth it: it is one small commit and one read. */
  private static final long LONGEST_INTERVAL_MILLIS = 60_000;

  /** More often would cost more than what is divided. */
  private static final long LEAST_INTERVAL_MILLIS = 100;

  /** A row outlives two rounds that fail. */
  private static final long ROUNDS_A_ROW_COUNTS = 3;

  /** A row that counts for longer was written before the database's clock was set back. */
  private static final long LONGEST_MILLIS = ROUNDS_A_ROW_COUNTS * LONGEST_INTERVAL_MILLIS;

  /** Divides the names of tasks in a row; no name has it. */
  private static final String BETWEEN = "\n";

  private static final int ID_LENGTH = 12;

  /** Who is there, and until when this is believed, by the monotonic clock. */
  private record Known(Map<String, Set<String>> tasksByProcess, long untilNanos) {}

  private record Found(String process, Set<String> tasks, long expiresAt, boolean isThere) {}

  /** What this process stands on once the store is open. */
  private record Self(Database database, String process) {}

  private final long intervalMillis;
  private final LongSupplier nanoTime;

  /** Whether each task's last step here failed: others are to try it then. */
  private final Map<String, Boolean> failing = new ConcurrentHashMap<>();

  private volatile @Nullable Self self;
  private volatile @Nullable Known known;

  /**
   * @param intervalMillis how often what is divided is done at most: as often it is divided anew,
   *     within bounds
   * @param nanoTime the monotonic clock
   */
  public UpkeepShares(long intervalMillis, LongSupplier nanoTime) {
    this.intervalMillis =
        Math.min(LONGEST_INTERVAL_MILLIS, Math.max(LEAST_INTERVAL_MILLIS, intervalMillis));
    this.nanoTime = nanoTime;
  }

  /**
   * A step of a task that is left out while another process does it.
   *
   * @param task what all processes call it, without line breaks
   * @param step one small piece of work, which must be right when two processes do it at once
   * @param left what is done in its place while it is left out
   */
  public Supplier<Future<Boolean>> divided(
      String task, Supplier<Future<Boolean>> step, Supplier<Future<Boolean>> left) {
    failing.put(task, false);
    return () -> isMine(task) ? attempt(task, step) : left.get();
  }

  private Future<Boolean> attempt(String task, Supplier<Future<Boolean>> step) {
    return Future.succeededFuture()
        .compose(v -> step.get())
        .onComplete(done -> failing.put(task, done.failed()));
  }

  /** Whether this process is to do a task: when it is its turn, and when nobody else's is known. */
  boolean isMine(String task) {
    Self here = self;
    Known there = known;
    if (here == null || there == null || nanoTime.getAsLong() - there.untilNanos() >= 0) {
      return true;
    }
    Set<String> tasks = new TreeSet<>();
    List<String> doers = new ArrayList<>();
    there
        .tasksByProcess()
        .forEach(
            (process, its) -> {
              tasks.addAll(its);
              if (its.contains(task)) {
                doers.add(process);
              }
            });
    if (doers.isEmpty()) {
      return true;
    }
    int turn = List.copyOf(tasks).indexOf(task) % doers.size();
    return doers.get(turn).equals(here.process());
  }

  /**
   * Takes part, when other processes may be using the store; gives what keeps this up, to be
   * started once all tasks are named, and stopped.
   */
  public Upkeep start(Vertx vertx, Database database, RandomGenerator random) {
    self = database.isShared() ? new Self(database, Ids.base62(random, ID_LENGTH)) : null;
    return new Upkeep(vertx, "dividing upkeep", intervalMillis, nanoTime, this::round);
  }

  /** Says that this process is there, and looks who else is. */
  Future<Boolean> round() {
    Self here = self;
    if (here == null) {
      return Future.succeededFuture(false);
    }
    long begin = nanoTime.getAsLong();
    long countsMillis = ROUNDS_A_ROW_COUNTS * intervalMillis;
    Set<String> tasks = new TreeSet<>();
    failing.forEach(
        (task, fails) -> {
          if (!fails) {
            tasks.add(task);
          }
        });
    return here.database()
        .commit(
            List.of(
                Statement.of(
                    """
                    INSERT INTO upkeep_process (process, tasks, expires_at) VALUES (?, ?, %s + ?)
                    ON CONFLICT (process) DO UPDATE SET
                    tasks = excluded.tasks, expires_at = excluded.expires_at\
                    """
                        .formatted(here.database().clockSql()),
                    here.process(),
                    String.join(BETWEEN, tasks),
                    countsMillis)))
        .compose(told -> read(here.database()))
        .compose(
            found -> {
              Map<String, Set<String>> there = new TreeMap<>();
              found.stream()
                  .filter(Found::isThere)
                  .forEach(one -> there.put(one.process(), one.tasks()));
              known = new Known(there, begin + TimeUnit.MILLISECONDS.toNanos(countsMillis));
              return forget(here, found);
            })
        .map(false);
  }

  private static Future<List<Found>> read(Database database) {
    return database.read(
        """
        SELECT process, tasks, expires_at,
        CASE WHEN expires_at > %1$s AND expires_at <= %1$s + ? THEN 1 ELSE 0 END AS is_there
        FROM upkeep_process\
        """
            .formatted(database.clockSql()),
        List.of(LONGEST_MILLIS),
        row ->
            new Found(
                row.text("process"),
                Set.of(row.text("tasks").split(BETWEEN)),
                row.integer("expires_at"),
                row.truth("is_there")));
  }

  /** Deletes a row of a process that is gone, unless it has come back. The next one, next time. */
  private static Future<Void> forget(Self here, List<Found> found) {
    return found.stream()
        .filter(one -> !one.isThere() && !one.process().equals(here.process()))
        .findFirst()
        .map(
            gone ->
                here.database()
                    .commit(
                        List.of(
                            Statement.of(
                                "DELETE FROM upkeep_process WHERE process = ? AND expires_at = ?",
                                gone.process(),
                                gone.expiresAt()))))
        .orElseGet(Future::succeededFuture);
  }

  /** Leaves the tasks to others at once. */
  public Future<Void> leave() {
    Self here = self;
    self = null;
    return here == null
        ? Future.succeededFuture()
        : here.database()
            .commit(
                List.of(
                    Statement.of("DELETE FROM upkeep_process WHERE process = ?", here.process())));
  }
}
