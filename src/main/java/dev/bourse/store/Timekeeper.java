package dev.bourse.store;

import dev.bourse.core.ClockStepDetector;
import dev.bourse.core.ClockView;
import dev.bourse.core.ConfirmedTime;
import dev.bourse.core.Times;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.BiPredicate;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Confirmed time, by the store's engine: a server's clock, which all processes share, or for the
 * embedded store this machine's clock, after it has agreed with the monotonic clock for a while.
 * After a step, a clock is confirmed again when it has agreed for as long since the step.
 *
 * <p>The store records the newest confirmed time. If a clock starts before that time, it was set
 * back or had been ahead. If it starts after that time, a step cannot be distinguished from time
 * during which the process did not run, so the clock has to be confirmed like any other.
 */
public final class Timekeeper implements ConfirmedTime {
  private static final Logger LOG = LoggerFactory.getLogger(Timekeeper.class);

  /** How often {@link #watch} is due: steps are seen within this time. */
  public static final long WATCH_MILLIS = 1_000;

  /** The precision of the recorded newest time: one small commit per interval. */
  private static final long MARK_STEP_MILLIS = 60_000;

  /** A server's clock may have been set if it was not read for this long. */
  private static final long STALE_MILLIS = 60_000;

  /** How far this machine's clock may differ from the server's before a warning. */
  private static final long APART_MILLIS = 30_000;

  private static final String MARK = "newest";

  private final Clock clock;
  private final LongSupplier nanoTime;
  private final long confirmAfterMillis;
  private final boolean asksServer;

  /** A reading of the server's clock, and when it was taken by the monotonic clock. */
  private record ClockReading(long millis, long atMillis) {}

  /** The latest reading while the server's clock is steady, for {@link #clock}. */
  private volatile @Nullable ClockReading serverReading;

  // All below is guarded by this object.
  private @Nullable Database database;
  private ClockStepDetector machine = new ClockStepDetector(0, 0);
  private ClockStepDetector server = new ClockStepDetector(0, 0);
  private @Nullable Long serverMillis;
  private long serverReadAt;
  private long wallAtServerReading;
  private @Nullable Long newest;
  private boolean hasWarnedApart;
  private boolean hasWarnedBehind;
  private long stepsAhead;
  private long stepsBack;
  private ClockView.@Nullable Step lastStep;

  /**
   * @param nanoTime the monotonic clock
   * @param confirmAfterMillis how long a clock must run without a step to be confirmed
   */
  public Timekeeper(Clock clock, LongSupplier nanoTime, long confirmAfterMillis) {
    this(clock, nanoTime, confirmAfterMillis, true);
  }

  /**
   * @param asksServer false if this clock takes precedence over a server's, as in a simulation with
   *     virtual time
   */
  public Timekeeper(
      Clock clock, LongSupplier nanoTime, long confirmAfterMillis, boolean asksServer) {
    this.asksServer = asksServer;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.confirmAfterMillis = confirmAfterMillis;
  }

  /**
   * Returns the clock for all displayed times: this machine's, or the server's while the two differ
   * so much that this machine's records would not fit those of others.
   */
  public Clock clock() {
    return new CombinedClock().withZone(clock.getZone());
  }

  private final class CombinedClock implements InstantSource {
    @Override
    public long millis() {
      long wall = clock.millis();
      ClockReading read = serverReading;
      if (read == null) {
        return wall;
      }
      long since = monotonicMillis() - read.atMillis();
      long shared = read.millis() + since;
      return since > STALE_MILLIS || Math.abs(wall - shared) <= APART_MILLIS ? wall : shared;
    }

    @Override
    public Instant instant() {
      return Instant.ofEpochMilli(millis());
    }
  }

  /** Begins to watch the clocks; {@link #watch} is due from now on. */
  public Future<Void> start(Database opened) {
    synchronized (this) {
      database = opened;
      machine = new ClockStepDetector(confirmAfterMillis, confirmAfterMillis);
      server = new ClockStepDetector(0, confirmAfterMillis);
    }
    return opened
        .read(
            "SELECT millis FROM clock_mark WHERE name = ?",
            List.of(MARK),
            row -> row.integer("millis"))
        .compose(
            marks -> {
              synchronized (this) {
                newest = marks.isEmpty() ? null : marks.get(0);
              }
              return read(opened);
            })
        .map(
            read -> {
              compareWithMark();
              return null;
            });
  }

  /** Reads the clocks, and stores the newest confirmed time; always returns false. */
  public Future<Boolean> watch() {
    Database store;
    synchronized (this) {
      store = database;
    }
    return store == null
        ? Future.succeededFuture(false)
        : read(store).compose(read -> keepMark(store)).map(false);
  }

  private Future<Void> read(Database store) {
    readMachine();
    if (!hasServer(store)) {
      return Future.succeededFuture();
    }
    long before = monotonicMillis();
    return store
        .read("SELECT " + store.clockSql() + " AS millis", List.of(), row -> row.integer("millis"))
        .map(
            rows -> {
              readServer(before, rows.get(0));
              return null;
            });
  }

  private boolean hasServer(@Nullable Database store) {
    return store != null && store.isShared() && asksServer;
  }

  private synchronized void readMachine() {
    long before = monotonicMillis();
    long wall = clock.millis();
    machine
        .read(before, wall, monotonicMillis())
        .ifPresent(by -> recordStep("this machine's clock", wall, by));
  }

  private synchronized void readServer(long before, long millis) {
    long after = monotonicMillis();
    server
        .read(before, millis, after)
        .ifPresent(by -> recordStep("the database's clock", millis, by));
    serverMillis = millis;
    serverReadAt = after;
    serverReading = server.isSteady(after) ? new ClockReading(millis, after) : null;
    wallAtServerReading = clock.millis();
    long apart = wallAtServerReading - millis;
    boolean isApart = Math.abs(apart) > APART_MILLIS + (after - before);
    if (isApart && !hasWarnedApart) {
      LOG.warn(
          "this machine's clock is {} {} the database's; using the database's clock",
          format(apart),
          apart > 0 ? "ahead of" : "behind");
    }
    hasWarnedApart = isApart;
  }

  private void recordStep(String which, long atMillis, long byMillis) {
    if (byMillis > 0) {
      stepsAhead++;
    } else {
      stepsBack++;
    }
    lastStep = new ClockView.Step(atMillis, byMillis);
    LOG.warn(
        """
        {} was set {} by {}, to {}; postings and deletions by time pause until it has run \
        without a step for {}\
        """,
        which,
        byMillis > 0 ? "ahead" : "back",
        format(byMillis),
        Times.rfc3339(atMillis),
        format(confirmAfterMillis));
  }

  private synchronized void compareWithMark() {
    boolean isShared = hasServer(database);
    long now = isShared && serverMillis != null ? serverMillis : clock.millis();
    if (newest != null && now < newest - ClockStepDetector.TOLERANCE_MILLIS) {
      stepsBack++;
      lastStep = new ClockView.Step(now, now - newest);
      LOG.warn(
          "{} starts at {}, {} before the newest confirmed time, {}",
          isShared ? "the database's clock" : "this machine's clock",
          Times.rfc3339(now),
          format(newest - now),
          Times.rfc3339(newest));
    }
  }

  private Future<Void> keepMark(Database store) {
    OptionalLong confirmed = confirmedMillis();
    if (confirmed.isEmpty()) {
      return Future.succeededFuture();
    }
    long millis = confirmed.getAsLong();
    synchronized (this) {
      Long before = newest;
      boolean isBehind = before != null && millis < before - ClockStepDetector.TOLERANCE_MILLIS;
      if (before != null && isBehind && !hasWarnedBehind) {
        LOG.warn(
            """
            {} is confirmed, although {} was confirmed before: usage posted for hours in the \
            future is reversed, and posted again when they are over\
            """,
            Times.rfc3339(millis),
            Times.rfc3339(before));
      }
      hasWarnedBehind = isBehind;
      if (newest != null && millis < newest + MARK_STEP_MILLIS) {
        return Future.succeededFuture();
      }
    }
    return store
        .commit(
            List.of(
                Statement.of(
                    """
                    INSERT INTO clock_mark (name, millis) VALUES (?, ?)
                    ON CONFLICT (name) DO UPDATE SET millis = excluded.millis
                    WHERE clock_mark.millis < excluded.millis\
                    """,
                    MARK,
                    millis)))
        .onSuccess(
            stored -> {
              synchronized (this) {
                newest = newest == null ? millis : Math.max(newest, millis);
              }
            });
  }

  @Override
  public OptionalLong confirmedMillis() {
    return millis(ClockStepDetector::isSteady);
  }

  @Override
  public OptionalLong undoubtedMillis() {
    return millis(ClockStepDetector::isUndoubted);
  }

  private OptionalLong millis(BiPredicate<ClockStepDetector, Long> isBelieved) {
    readMachine();
    synchronized (this) {
      if (database == null) {
        return OptionalLong.empty();
      }
      long now = monotonicMillis();
      if (!hasServer(database)) {
        return isBelieved.test(machine, now)
            ? OptionalLong.of(clock.millis())
            : OptionalLong.empty();
      }
      Long read = serverMillis;
      long since = now - serverReadAt;
      return read == null || since > STALE_MILLIS || !isBelieved.test(server, now)
          ? OptionalLong.empty()
          : OptionalLong.of(read + since);
    }
  }

  @Override
  public boolean isNewest() {
    OptionalLong confirmed = confirmedMillis();
    synchronized (this) {
      return confirmed.isPresent()
          && (newest == null
              || confirmed.getAsLong() >= newest - ClockStepDetector.TOLERANCE_MILLIS);
    }
  }

  /** Returns the present state. */
  public ClockView view() {
    OptionalLong confirmed = confirmedMillis();
    synchronized (this) {
      boolean isShared = hasServer(database);
      long now = monotonicMillis();
      Long read = serverMillis;
      boolean isHeard = isShared && read != null && now - serverReadAt <= STALE_MILLIS;
      return new ClockView(
          clock().millis(),
          confirmed.isPresent() ? Long.valueOf(confirmed.getAsLong()) : null,
          newest,
          (isShared ? server : machine).leftMillis(now),
          isHeard && read != null ? Long.valueOf(wallAtServerReading - read) : null,
          stepsAhead,
          stepsBack,
          lastStep);
    }
  }

  private long monotonicMillis() {
    return TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong());
  }

  private static String format(long millis) {
    return Duration.ofMillis(Math.abs(millis))
        .truncatedTo(ChronoUnit.SECONDS)
        .toString()
        .substring(2)
        .toLowerCase(Locale.ROOT);
  }
}
