package dev.bourse.billing;

import dev.bourse.billing.Usage.ChangePoint;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What prices and ceilings are in force, from the change points that are stored. Pure. */
public final class PricesInForce {
  private PricesInForce() {}

  /**
   * A ceiling that a tick read.
   *
   * @param atMillis when
   * @param pricedAtMillis since when it had been declared: what was declared later it did not read
   */
  public record Read(long atMillis, long cents, long pricedAtMillis) {}

  /**
   * A declared ceiling.
   *
   * @param atMillis when it was declared
   * @param effectiveAtMillis when it is in force at the latest
   */
  public record Declared(long atMillis, long effectiveAtMillis, long cents) {}

  /**
   * The ceilings in force: what the last tick read, and no more than what was declared since and is
   * due. Before any tick read one, what was declared counts at once, as it did in the release that
   * stored none.
   *
   * @param reads in order of time
   * @param declared in the order in which they were made
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
    List<Declared> byEffect = new ArrayList<>(declared);
    byEffect.sort(Comparator.comparingLong(Declared::effectiveAtMillis));
    List<ChangePoint> points = new ArrayList<>();
    int nextRead = 0;
    int nextMade = 0;
    int nextDue = 0;
    Declared made = null;
    Declared due = null;
    for (long moment : moments) {
      while (nextRead < reads.size() && reads.get(nextRead).atMillis() <= moment) {
        nextRead++;
      }
      while (nextMade < declared.size() && declared.get(nextMade).atMillis() <= moment) {
        made = declared.get(nextMade++);
      }
      while (nextDue < byEffect.size() && byEffect.get(nextDue).effectiveAtMillis() <= moment) {
        Declared one = byEffect.get(nextDue++);
        due = due == null || one.atMillis() >= due.atMillis() ? one : due;
      }
      Read read = nextRead == 0 ? null : reads.get(nextRead - 1);
      Long cents = inForce(read, made, due);
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
   * What an organization pays.
   *
   * @param pool change points of the pool's clearing price, in order of time
   * @param own of what the organization pays where that is another; null cents where it is not
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
