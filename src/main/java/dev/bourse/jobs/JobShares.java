package dev.bourse.jobs;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Divides tasks among the processes of a store, so that one of them does each. Every process keeps
 * a row with its tasks and an expiry; all processes compute the same division from the rows that
 * have not expired.
 *
 * <p>The division saves work and is not needed for correctness: each task must tolerate that two
 * processes do it at the same time. They do so while one has not read the other's row, after a
 * freeze, and beside a release that has other tasks. A process that does not know the rows does all
 * tasks. A task rests at most until the row of a process that ended has expired. The clock of the
 * database judges expiry; if it is set, some tasks are done twice, or rest as long as a row counts
 * at most.
 */
final class JobShares {
  /** Less often is not worth it: it is one small commit and one read. */
  private static final long LONGEST_INTERVAL_MILLIS = 60_000;

  /** A shorter interval would cost more than the divided work. */
  private static final long LEAST_INTERVAL_MILLIS = 100;

  /** Lets a row outlive two failed rounds. */
  private static final long ROUNDS_A_ROW_COUNTS = 3;

  /** A row with a later expiry was written before the database's clock was set back. */
  private static final long LONGEST_MILLIS = ROUNDS_A_ROW_COUNTS * LONGEST_INTERVAL_MILLIS;

  /** Separates task names in a row; no name contains it. */
  private static final String BETWEEN = "\n";

  /** The rows last read, and until when they count, by the monotonic clock. */
  private record Known(Map<String, Set<String>> tasksByProcess, long untilNanos) {}

  private record Found(String process, Set<String> tasks, long expiresAt, boolean isThere) {}

  /** The store, and the name of this process. */
  private record Self(Database database, String process) {}

  private final long intervalMillis;
  private final LongSupplier nanoTime;

  /** Whether each task's last step failed here; a failing task is not offered. */
  private final Map<String, Boolean> failing = new ConcurrentHashMap<>();

  private volatile @Nullable Self self;
  private volatile @Nullable Known known;

  /**
   * @param intervalMillis the shortest period of the tasks; they are divided as often, within
   *     bounds
   * @param nanoTime the monotonic clock
   */
  JobShares(long intervalMillis, LongSupplier nanoTime) {
    this.intervalMillis =
        Math.min(LONGEST_INTERVAL_MILLIS, Math.max(LEAST_INTERVAL_MILLIS, intervalMillis));
    this.nanoTime = nanoTime;
  }

  /** How often {@link #round} is due. */
  long intervalMillis() {
    return intervalMillis;
  }

  /** Offers to do a task, which must tolerate that two processes do it at the same time. */
  void declare(String task) {
    failing.put(task, false);
  }

  /** Notes whether a task failed here; one that fails is offered to other processes. */
  void note(String task, boolean isFailing) {
    failing.computeIfPresent(task, (name, before) -> isFailing);
  }

  /** Returns the other process that does a task; empty if this one does or if none is known. */
  Optional<String> findOther(String task) {
    Self here = self;
    Known there = known;
    if (here == null || there == null || nanoTime.getAsLong() - there.untilNanos() >= 0) {
      return Optional.empty();
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
      return Optional.empty();
    }
    int turn = List.copyOf(tasks).indexOf(task) % doers.size();
    return Optional.of(doers.get(turn)).filter(doer -> !doer.equals(here.process()));
  }

  /**
   * Takes part if other processes may be using the store.
   *
   * @param process the unique name of this process
   */
  void join(Database database, String process) {
    self = database.isShared() ? new Self(database, process) : null;
  }

  /** Renews the row of this process, and reads those of others. */
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
        .compose(stored -> read(here.database()))
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

  /** Deletes one expired row of another process, unless it was renewed. */
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

  /** Hands the tasks over to the other processes immediately. */
  Future<Void> leave() {
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
