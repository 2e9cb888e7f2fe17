package dev.bourse.faults;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Faults of one service, one after the other, while a Prometheus of its own looks at it. */
final class AlertTrials {
  /** The longest window of a rule is 90 s; the rest allows for a busy machine. */
  private static final int FIRE_SECONDS = 120;

  private static final int CLEAR_SECONDS = 180;

  /** An alert that clears by itself while the fault lasts tells nobody of it. */
  private static final int LASTS_SECONDS = 3;

  /** How long a lapse of one evaluation may last on a busy machine. */
  private static final int LAPSE_SECONDS = 30;

  private final AlertMonitor watch;

  /**
   * Waits until each process has been scraped and no alert even begins to fire.
   *
   * @param name of the service
   * @param ports where its processes tell their numbers
   */
  AlertTrials(Run run, String name, AlertRules rules, Collection<Integer> ports)
      throws IOException {
    Prometheus prometheus = new Prometheus(run.folder().resolve(name), rules.shortened(), ports);
    FaultWorld.until("Prometheus has scraped each process", 60, prometheus::hasScrapedAll);
    FaultWorld.until("no alert begins to fire before anything is done", 60, prometheus::isQuiet);
    watch = new AlertMonitor(prometheus);
  }

  /** Runs them one after the other; in the end no alert even begins to fire. */
  void run(List<AlertTrial> trials) throws Exception {
    for (AlertTrial trial : trials) {
      begin(trial);
      end(trial);
    }
    FaultWorld.until("no alert is left", CLEAR_SECONDS, watch::isQuiet);
  }

  /** Brings the fault about, once nothing that it makes fire does by another. */
  private void begin(AlertTrial trial) throws Exception {
    FaultWorld.until(
        trial.fires() + " are over", CLEAR_SECONDS, () -> watch.areOver(trial.fires()));
    watch.allow(trial.allowed(), trial.fault());
    trial.breaks().run();
  }

  /** Waits for all its alerts, takes the fault away, and waits until they have cleared. */
  private void end(AlertTrial trial) throws Exception {
    long began = System.nanoTime();
    long patient = (long) (FIRE_SECONDS * FaultWorld.PATIENCE);
    long deadline = began + TimeUnit.SECONDS.toNanos(patient);
    while (!watch.firing().containsAll(trial.fires())) {
      if (System.nanoTime() > deadline) {
        throw new ViolatedException(
            "%s: of %s only %s fire after %d s"
                .formatted(trial.fault(), trial.fires(), watch.firing(), patient));
      }
      goOn(trial);
    }
    long fired = System.nanoTime();
    requireLasting(trial);
    trial.mends().run();
    FaultWorld.until(
        trial.allowed() + " clear after: " + trial.fault(),
        CLEAR_SECONDS,
        () -> watch.areOver(trial.allowed()));
    watch.forbid(trial.allowed());
    System.out.printf(
        "faults: %s: %s fired within %d s and cleared within %d s%n",
        trial.fault(),
        String.join(", ", new TreeSet<>(trial.fires())),
        TimeUnit.NANOSECONDS.toSeconds(fired - began),
        TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - fired));
  }

  private static void goOn(AlertTrial trial) throws Exception {
    trial.goesOn().run();
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
  }

  private void requireLasting(AlertTrial trial) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LASTS_SECONDS);
    while (System.nanoTime() < deadline) {
      goOn(trial);
    }
    // One look may miss what a lost scrape ends for a moment.
    deadline += TimeUnit.SECONDS.toNanos(LAPSE_SECONDS);
    while (!watch.firing().containsAll(trial.fires()) && System.nanoTime() < deadline) {
      goOn(trial);
    }
    if (!watch.firing().containsAll(trial.fires())) {
      throw new ViolatedException(
          "%s: of %s only %s fire still after %d s"
              .formatted(trial.fault(), trial.fires(), watch.firing(), LASTS_SECONDS));
    }
  }
}
