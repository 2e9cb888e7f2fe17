package dev.bourse.simulation;

import static dev.bourse.simulation.MarketInvariants.SECOND;
import static dev.bourse.simulation.MarketInvariants.contains;

import dev.bourse.store.Statement;
import java.util.ArrayDeque;
import java.util.List;

/** The terms of the pool that a process may still use. */
final class PoolTerms {
  /**
   * A process learns of new terms within seconds; one that is stopped loses the lease in that time,
   * and reads the terms again when it continues.
   */
  private static final long HEARD_NANOS = 60 * SECOND;

  private record Set(long reserve, long cap, long untilNanos) {}

  private final ArrayDeque<Set> past = new ArrayDeque<>();
  private long reserve = -1;
  private long cap;

  void follow(World world, List<Statement> statements) {
    if (reserve >= 0 && !contains(statements, "pool")) {
      return;
    }
    long now = world.scheduler.nowNanos();
    if (reserve >= 0) {
      past.add(new Set(reserve, cap, now));
    }
    reserve = world.server.engine().number("SELECT reserve_cents FROM pool");
    cap = world.server.engine().number("SELECT cap_cents FROM pool");
  }

  long leastReserve(World world) {
    long least = reserve;
    for (Set set : recent(world)) {
      least = Math.min(least, set.reserve);
    }
    return least;
  }

  long mostCap(World world) {
    long most = cap;
    for (Set set : recent(world)) {
      most = Math.max(most, set.cap);
    }
    return most;
  }

  private ArrayDeque<Set> recent(World world) {
    while (!past.isEmpty()
        && past.element().untilNanos < world.scheduler.nowNanos() - HEARD_NANOS) {
      past.remove();
    }
    return past;
  }
}
