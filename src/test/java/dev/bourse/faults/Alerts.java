package dev.bourse.faults;

import dev.bourse.logs.LogConfig;
import dev.bourse.logs.Logs;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.event.Level;

/**
 * Each alert of {@code conf/alerts.yaml} fires by the fault it tells of, as a real Prometheus sees
 * the service, and no other does; when the fault is taken away it clears. {@link AlertReplicas} and
 * {@link AlertSite} have each fault with its alerts; an alert without one fails the run.
 */
final class Alerts implements Scenario {
  static final String NAME = "alerts";

  /** Alerts for which there is no fault here, each with the reason. */
  private static final Map<String, String> UNTRIED = Map.of();

  /** The longest that the rules take here is a window of a minute; the rest is a busy machine. */
  private static final int FIRE_SECONDS = 120;

  private static final int CLEAR_SECONDS = 180;

  /** Everything is compared every five minutes. */
  private static final int SLOW_SECONDS = 400;

  private final List<AlertTrial> done = new ArrayList<>();

  @Override
  public String leftOut() throws Exception {
    for (String missing :
        List.of(Prometheus.missing(), FakeClock.missing(), StoppedLoop.missing())) {
      if (!missing.isEmpty()) {
        return missing;
      }
    }
    return "";
  }

  @Override
  public int minutes() {
    return 20;
  }

  @Override
  public void run(Run run) throws Exception {
    // The machine's ssh server tells of each connection that is cut.
    LogConfig usual = LogConfig.usual();
    Logs.configure(new LogConfig(usual.format(), Level.ERROR, usual.slowMillis()));
    AlertRules rules = new AlertRules(run.alerts());
    AlertReplicas replicas = new AlertReplicas(run);
    AlertSite site = new AlertSite(run);
    requireAllTried(rules, replicas, site);
    replicas.start();
    site.start();
    List<Integer> ports = new ArrayList<>(replicas.ports());
    ports.add(site.port());
    Prometheus prometheus =
        new Prometheus(run.folder().resolve("prometheus"), rules.shortened(), ports);
    FaultWorld.until("no alert even begins to fire", 60, prometheus::isQuiet);
    AlertWatch watch = new AlertWatch(prometheus);
    replicas.trials().forEach(trial -> tryOut(watch, trial));
    AlertTrial slow = replicas.slowTrial();
    begin(watch, slow);
    replicas.laterTrials().forEach(trial -> tryOut(watch, trial));
    site.trials().forEach(trial -> tryOut(watch, trial));
    end(watch, slow, SLOW_SECONDS);
    FaultWorld.until("no alert is left", CLEAR_SECONDS, prometheus::isQuiet);
    site.leftOut().forEach(what -> System.out.println("faults: LEFT OUT: " + what));
    UNTRIED.forEach((alert, why) -> System.out.println("faults: not tried: " + alert + ": " + why));
    System.out.println(
        "faults: " + done.size() + " faults, each told by its alerts and no others, which cleared");
  }

  private static void requireAllTried(AlertRules rules, AlertReplicas replicas, AlertSite site) {
    Set<String> tried = new TreeSet<>(UNTRIED.keySet());
    List<AlertTrial> trials = new ArrayList<>(replicas.trials());
    trials.add(replicas.slowTrial());
    trials.addAll(replicas.laterTrials());
    trials.addAll(site.trials());
    trials.forEach(trial -> tried.addAll(trial.fires()));
    if (!tried.equals(rules.names())) {
      throw new Violated(
          "the rules have the alerts " + rules.names() + ", and there are faults for " + tried);
    }
  }

  private void tryOut(AlertWatch watch, AlertTrial trial) {
    begin(watch, trial);
    end(watch, trial, FIRE_SECONDS);
  }

  /** Brings the fault about, once nothing that it makes fire does by another. */
  private static void begin(AlertWatch watch, AlertTrial trial) {
    FaultWorld.until(
        trial.fires() + " are over", CLEAR_SECONDS, () -> watch.areOver(trial.fires()));
    watch.during(trial.fault());
    watch.allow(trial.allowed());
    carryOut(trial.breaks());
  }

  /** Waits for all its alerts, takes the fault away, and waits until they have cleared. */
  private void end(AlertWatch watch, AlertTrial trial, int seconds) {
    watch.during(trial.fault());
    long began = System.nanoTime();
    long deadline = began + TimeUnit.SECONDS.toNanos(seconds);
    while (!watch.fire(trial.fires())) {
      if (System.nanoTime() > deadline) {
        throw new Violated(
            trial.fault()
                + ": of "
                + trial.fires()
                + " only "
                + watch.firing()
                + " fire after "
                + seconds
                + " s");
      }
      carryOut(trial.goesOn());
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
    }
    long fired = System.nanoTime();
    carryOut(trial.mends());
    FaultWorld.until(
        trial.allowed() + " clear after: " + trial.fault(),
        CLEAR_SECONDS,
        () -> watch.areOver(trial.allowed()));
    watch.forbid(trial.allowed());
    done.add(trial);
    System.out.println(
        "faults: "
            + trial.fault()
            + ": "
            + String.join(", ", new TreeSet<>(trial.fires()))
            + " fired within "
            + TimeUnit.NANOSECONDS.toSeconds(fired - began)
            + " s, cleared within "
            + TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - fired)
            + " s");
  }

  private static void carryOut(AlertTrial.Step step) {
    try {
      step.run();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new Violated("a fault could not be brought about or taken away: " + e, e);
    }
  }
}
