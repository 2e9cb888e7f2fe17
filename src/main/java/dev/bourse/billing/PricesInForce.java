package dev.bourse.billing;

import dev.bourse.billing.Usage.ChangePoint;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Computes the prices and ceilings in force from stored change points. Pure. */
public final class PricesInForce {
  private PricesInForce() {}

  /**
   * A ceiling that a tick read.
   *
   * @param atMillis time of the tick
   * @param pricedAtMillis time of its declaration; the tick did not read later declarations
   */
  public record Read(long atMillis, long cents, long pricedAtMillis) {}

  /**
   * A declared ceiling.
   *
   * @param atMillis time of the declaration
   * @param effectiveAtMillis time from which it is in force at the latest
   */
  public record Declared(long atMillis, long effectiveAtMillis, long cents) {}

  /**
   * Returns the ceilings in force: the ceiling that the last tick read, or a lower one that was
   * declared later and is due. Before the first stored ceiling of a tick, a declared ceiling is in
   * force at once, as in the release that stored none.
   *
   * @param reads in order of time
   * @param declared in order of declaration
   */
  public static List<ChangePoint> ceilings(List<Read> reads, List<Declared> declared) {
    TreeSet<Long> moments = new TreeSet<>();
    long firstRead = reads.isEmpty() ? Long.MAX_VALUE : reads.get(0).atMillis();
    reads.forEach(read -> moments.add(read.atMillis()));
    for (Declared one : declared) {
      if (one.atMillis() < firstRead) {
        moments.add(one.atMillis());
      }
      moments.add(Math.max(firstRead, one.effectiveAtMillis()));
    }
    moments.remove(Long.MAX_VALUE);
    List<Integer> byEffect =
        IntStream.range(0, declared.size())
            .boxed()
            .sorted(Comparator.comparingLong(i -> declared.get(i).effectiveAtMillis()))
            .toList();
    List<ChangePoint> points = new ArrayList<>();
    int nextRead = 0;
    int nextMade = 0;
    int nextDue = 0;
    Declared made = null;
    int due = -1;
    for (long moment : moments) {
      while (nextRead < reads.size() && reads.get(nextRead).atMillis() <= moment) {
        nextRead++;
      }
      while (nextMade < declared.size() && declared.get(nextMade).atMillis() <= moment) {
        made = declared.get(nextMade++);
      }
      while (nextDue < byEffect.size()
          && declared.get(byEffect.get(nextDue)).effectiveAtMillis() <= moment) {
        // The last declaration counts, also among several at one moment.
        due = Math.max(due, byEffect.get(nextDue++));
      }
      Read read = nextRead == 0 ? null : reads.get(nextRead - 1);
      Long cents = inForce(read, made, due < 0 ? null : declared.get(due));
      if (cents != null) {
        points.add(new ChangePoint(moment, cents));
      }
    }
    return points;
  }

  private static @Nullable Long inForce(
      @Nullable Read read, @Nullable Declared made, @Nullable Declared due) {
    if (read == null) {
      return made == null ? null : Long.valueOf(made.cents());
    }
    return due != null && due.atMillis() > read.pricedAtMillis()
        ? Math.min(read.cents(), due.cents())
        : read.cents();
  }

  /**
   * Returns the change points of an organization's price.
   *
   * @param pool change points of the pool's clearing price, in order of time
   * @param own change points of the organization's own price; null cents while it pays the clearing
   *     price
   */
  public static List<ChangePoint> prices(List<ChangePoint> pool, List<ChangePoint> own) {
    if (own.isEmpty()) {
      return pool;
    }
    List<ChangePoint> points = new ArrayList<>();
    int nextPool = 0;
    int nextOwn = 0;
    while (nextPool < pool.size() || nextOwn < own.size()) {
      long poolAt = nextPool < pool.size() ? pool.get(nextPool).atMillis() : Long.MAX_VALUE;
      long ownAt = nextOwn < own.size() ? own.get(nextOwn).atMillis() : Long.MAX_VALUE;
      nextPool += poolAt <= ownAt ? 1 : 0;
      nextOwn += ownAt <= poolAt ? 1 : 0;
      Long clearing = nextPool == 0 ? null : pool.get(nextPool - 1).cents();
      Long another = nextOwn == 0 ? null : own.get(nextOwn - 1).cents();
      points.add(new ChangePoint(Math.min(poolAt, ownAt), another == null ? clearing : another));
    }
    return points;
  }
}
