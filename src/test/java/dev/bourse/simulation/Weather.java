package dev.bourse.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;

/** What the network and the machines do to everybody, as faults have set it. */
final class Weather implements Machines.Luck {
  private static final long MILLI = 1_000_000;

  private final SplittableRandom random;
  private final LongSupplier nowNanos;
  private final List<Route> routes = new ArrayList<>();

  /** How many of a hundred messages are lost, each way. */
  int lossPercent;

  /** How many of a hundred changes are told twice. */
  int repeatPercent;

  /** How many of a hundred readings of the feed find that it has lost its place. */
  int lostPlacePercent;

  /** How many of a hundred runs on machines break off. */
  int breakPercent;

  /** How many of a hundred runs on machines take minutes. */
  int longRunPercent;

  /** How many of a hundred calls reach their machines late. */
  int lateCallPercent;

  /** How many of a hundred messages take seconds. */
  int slowPercent;

  /** How many of a hundred commits are under way in the server for a while. */
  int stallPercent;

  /** How many of a hundred calls of a disk fail. */
  int diskFaultPercent;

  /** How many of a hundred calls of a disk find no room. */
  int diskFullPercent;

  /** How many of a hundred calls of a disk are refused, for too much is asked at once. */
  int diskBusyPercent;

  /** How many of a hundred calls of a disk take seconds. */
  int diskSlowPercent;

  /** Nobody reaches the database. */
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

  /** What befalls a new disk. */
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

  /** A new way between a process and the database. */
  Route route() {
    Route route = new Route();
    routes.add(route);
    return route;
  }

  /** One way between a process and the database. */
  final class Route implements Link.Network {
    /** Nothing passes. */
    boolean isCut;

    private long lastTroubleNanos;

    /** When something last went wrong on it. */
    long lastTroubleNanos() {
      return isCut || isDatabaseAway ? nowNanos.getAsLong() : lastTroubleNanos;
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
    public boolean repeats() {
      return happens(repeatPercent);
    }

    @Override
    public boolean losesPlace() {
      return happens(lostPlacePercent);
    }
  }
}
