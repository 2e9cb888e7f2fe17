package dev.bourse.faults;

import java.util.Collection;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * Sees which alerts fire, whatever else is done meanwhile: one that nobody allowed and that goes on
 * firing fails the run.
 */
final class AlertMonitor {
  private static final long LOOK_MILLIS = 500;

  /**
   * The times of the rules are made short, so one scrape that a busy machine let wait fires an
   * alert; the next ends it. A rule that is wrong goes on.
   */
  private static final long LASTING_NANOS =
      (long) (TimeUnit.SECONDS.toNanos(15) * FaultWorld.PATIENCE);

  private final Prometheus prometheus;

  /** By alert, how many faults that are there or just were allow it. Guarded by this. */
  private final TreeMap<String, Integer> allowed = new TreeMap<>();

  /** By alert that fires though nobody allows it, since when it does. Guarded by this. */
  private final TreeMap<String, Long> strange = new TreeMap<>();

  private Set<String> firing = Set.of();
  private boolean isQuiet;
  private String fault = "";
  private String during = "the start";

  AlertMonitor(Prometheus prometheus) {
    this.prometheus = prometheus;
    Thread watch = new Thread(this::look, "alerts");
    watch.setDaemon(true);
    watch.start();
  }

  private void look() {
    try {
      while (true) {
        note(prometheus.firing(), prometheus.isQuiet());
        TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
      }
    } catch (RuntimeException | InterruptedException e) {
      failed("Prometheus could not be asked: " + e.getMessage());
    }
  }

  private synchronized void failed(String what) {
    fault = fault.isEmpty() ? what : fault;
  }

  private synchronized void note(Set<String> now, boolean isQuietNow) {
    long nanos = System.nanoTime();
    Set<String> unasked = new TreeSet<>(now);
    unasked.removeAll(allowed.keySet());
    strange.keySet().retainAll(unasked);
    unasked.forEach(alert -> strange.putIfAbsent(alert, nanos));
    if (strange.values().stream().anyMatch(since -> nanos - since > LASTING_NANOS)) {
      failed(strange.keySet() + " fire: " + during + ", where " + allowed.keySet() + " may");
    }
    firing = now;
    isQuiet = isQuietNow;
  }

  /**
   * From now on these may fire.
   *
   * @param because of this
   */
  synchronized void allow(Collection<String> alerts, String because) {
    during = because;
    alerts.forEach(alert -> allowed.merge(alert, 1, Integer::sum));
  }

  /** From now on none of these may fire, unless others allow it. */
  synchronized void forbid(Collection<String> alerts) {
    alerts.forEach(alert -> allowed.computeIfPresent(alert, (a, n) -> n == 1 ? null : n - 1));
  }

  /** Those that fire. */
  synchronized Set<String> firing() {
    if (!fault.isEmpty()) {
      throw new ViolatedException(fault);
    }
    return firing;
  }

  /** Whether no alert fires or begins to. */
  synchronized boolean isQuiet() {
    return firing().isEmpty() && isQuiet;
  }

  /** Whether none of these fires. */
  boolean areOver(Collection<String> alerts) {
    return firing().stream().noneMatch(alerts::contains);
  }
}
