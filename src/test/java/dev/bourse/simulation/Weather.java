package dev.bourse.simulation;

import dev.bourse.store.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The faults of networks and machines that are set at present. */
final class Weather implements Machines.Luck {
  private static final long MILLI = 1_000_000;

  private final SplittableRandom random;
  private final LongSupplier nowNanos;
  private final List<Route> routes = new ArrayList<>();

  /** Percentage of messages that are lost, each way. */
  int lossPercent;

  /** Percentage of changes that are delivered twice. */
  int repeatPercent;

  /** Percentage of feed reads that have lost their position. */
  int lostPlacePercent;

  /** Percentage of runs on machines that break off. */
  int breakPercent;

  /** Percentage of runs on machines that take minutes. */
  int longRunPercent;

  /** Percentage of calls that reach their machines late. */
  int lateCallPercent;

  /** Percentage of messages that take seconds. */
  int slowPercent;

  /** Percentage of commits that wait in the server for a while. */
  int stallPercent;

  /** Percentage of commits without an answer, stored or not. */
  int lostOutcomePercent;

  /** The cluster whose row another session has locked; null for none. */
  @Nullable String lockedCluster;

  /** Percentage of disk calls that fail. */
  int diskFaultPercent;

  /** Percentage of disk calls that find the disk full. */
  int diskFullPercent;

  /** Percentage of disk calls that are rejected because of too many requests. */
  int diskBusyPercent;

  /** Percentage of disk calls that take seconds. */
  int diskSlowPercent;

  /** No process reaches the database. */
  boolean isDatabaseAway;

  Weather(SplittableRandom random, LongSupplier nowNanos) {
    this.random = random;
    this.nowNanos = nowNanos;
  }

  /** Ends all faults of the network and of machines' runs. */
  void clear() {
    lossPercent = 0;
    repeatPercent = 0;
    lostPlacePercent = 0;
    breakPercent = 0;
    longRunPercent = 0;
    lateCallPercent = 0;
    slowPercent = 0;
    stallPercent = 0;
    lostOutcomePercent = 0;
    lockedCluster = null;
    diskFaultPercent = 0;
    diskFullPercent = 0;
    diskBusyPercent = 0;
    diskSlowPercent = 0;
    isDatabaseAway = false;
    routes.forEach(route -> route.isCut = false);
  }

  private boolean happens(int percent) {
    return percent > 0 && random.nextInt(100) < percent;
  }

  @Override
  public long callMillis() {
    return happens(lateCallPercent) ? random.nextLong(1_000, 50_000) : 2;
  }

  @Override
  public long runMillis() {
    if (happens(longRunPercent)) {
      return random.nextLong(40_000, 150_000);
    }
    return random.nextLong(500, 8_000);
  }

  @Override
  public boolean breaks() {
    return happens(breakPercent);
  }

  /** Creates the faults of a new disk. */
  Disk.Luck disk() {
    SplittableRandom own = random.split();
    return new Disk.Luck() {
      @Override
      public long delayNanos() {
        return chance(diskSlowPercent)
            ? own.nextLong(100 * MILLI, 6_000 * MILLI)
            : own.nextLong(MILLI / 20, 2 * MILLI);
      }

      @Override
      public boolean faults() {
        return chance(diskFaultPercent);
      }

      @Override
      public boolean isFull() {
        return chance(diskFullPercent);
      }

      @Override
      public boolean isBusy() {
        return chance(diskBusyPercent);
      }

      @Override
      public int below(int bound) {
        return own.nextInt(bound);
      }

      private boolean chance(int percent) {
        return percent > 0 && own.nextInt(100) < percent;
      }
    };
  }

  /** Creates a new link between a process and the database. */
  Route route() {
    Route route = new Route();
    routes.add(route);
    return route;
  }

  /** One link between a process and the database. */
  final class Route implements Link.Network {
    /** No message passes. */
    boolean isCut;

    private long lastTroubleNanos;

    /** Returns when it last had a fault. */
    long lastTroubleNanos() {
      return isCut || isDatabaseAway || lockedCluster != null
          ? nowNanos.getAsLong()
          : lastTroubleNanos;
    }

    /** Records a fault of the link now. */
    void noteTrouble() {
      lastTroubleNanos = nowNanos.getAsLong();
    }

    @Override
    public long delayNanos() {
      if (happens(slowPercent)) {
        lastTroubleNanos = nowNanos.getAsLong();
        return random.nextLong(100 * MILLI, 4_000 * MILLI);
      }
      return random.nextLong(MILLI / 10, 3 * MILLI);
    }

    @Override
    public Link.Fate fate() {
      if (isCut || isDatabaseAway || happens(lossPercent)) {
        lastTroubleNanos = nowNanos.getAsLong();
        return Link.Fate.LOST;
      }
      return Link.Fate.ARRIVES;
    }

    @Override
    public long stallNanos() {
      if (happens(stallPercent)) {
        lastTroubleNanos = nowNanos.getAsLong();
        return random.nextLong(10 * MILLI, 8_000 * MILLI);
      }
      return 0;
    }

    @Override
    public Link.Ending ending() {
      if (!happens(lostOutcomePercent)) {
        return Link.Ending.STORED;
      }
      lastTroubleNanos = nowNanos.getAsLong();
      return random.nextBoolean() ? Link.Ending.STORED_UNANSWERED : Link.Ending.UNDONE_UNANSWERED;
    }

    @Override
    public boolean isLocked(List<Statement> statements) {
      String locked = lockedCluster;
      return locked != null
          && statements.stream()
              .anyMatch(
                  statement ->
                      statement.sql().startsWith("UPDATE cluster")
                          && statement.parameters().contains(locked));
    }

    @Override
    public boolean repeats() {
      return happens(repeatPercent);
    }

    @Override
    public boolean losesPlace() {
      return happens(lostPlacePercent);
    }
  }
}
