package dev.bourse.faults;

import dev.bourse.logs.LogConfig;
import dev.bourse.logs.Logs;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.slf4j.event.Level;

/**
 * Each alert of {@code conf/alerts.yaml} fires by the fault it tells of, as a real Prometheus sees
 * the service, and no other does; when the fault is taken away it clears. {@link AlertReplicas} and
 * {@link AlertSite} have each fault with its alerts; an alert without one fails the run. As most of
 * it is waiting, both are tried at once, each with a Prometheus of its own: the pools of two
 * services would be one to the rules.
 */
final class Alerts implements Scenario {
  static final String NAME = "alerts";

  /** Alerts for which there is no fault here, each with the reason. */
  private static final Map<String, String> UNTRIED = Map.of();

  /** Everything is compared every five minutes. */
  private static final int COMPARED_SECONDS = 400;

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
    AlertRules rules = new AlertRules(run.conf("alerts.yaml"));
    AlertReplicas replicas = new AlertReplicas(run);
    AlertSite site = new AlertSite(run);
    List<AlertTrial> trials = new ArrayList<>(replicas.trials());
    trials.add(replicas.slowTrial());
    trials.addAll(replicas.laterTrials());
    trials.addAll(site.trials());
    requireAllTried(rules, trials);
    ExecutorService threads = Executors.newSingleThreadExecutor();
    try {
      Future<Void> beside =
          threads.submit(
              () -> {
                tryOut(run, rules, site);
                return null;
              });
      tryOut(run, rules, replicas);
      beside.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    } finally {
      threads.shutdownNow();
    }
    site.leftOut().forEach(what -> System.out.println("faults: LEFT OUT: " + what));
    UNTRIED.forEach((alert, why) -> System.out.println("faults: not tried: " + alert + ": " + why));
    System.out.printf(
        "faults: %d alerts fired by %d faults, each by its own alone, and cleared%n",
        rules.names().size() - UNTRIED.size(), trials.size());
  }

  private static void requireAllTried(AlertRules rules, List<AlertTrial> trials) {
    Set<String> tried = new TreeSet<>(UNTRIED.keySet());
    trials.forEach(trial -> tried.addAll(trial.fires()));
    if (!tried.equals(rules.names())) {
      throw new Violated(
          "the rules have the alerts " + rules.names() + ", and there are faults for " + tried);
    }
  }

  private static void tryOut(Run run, AlertRules rules, AlertReplicas replicas) throws Exception {
    replicas.start();
    AlertTrials trials = new AlertTrials(run, "prometheus-postgres", rules, replicas.ports());
    trials.run(replicas.trials());
    AlertTrial slow = replicas.slowTrial();
    trials.begin(slow);
    trials.run(replicas.laterTrials());
    trials.end(slow, COMPARED_SECONDS);
    trials.finish();
  }

  private static void tryOut(Run run, AlertRules rules, AlertSite site) throws Exception {
    site.start();
    AlertTrials trials = new AlertTrials(run, "prometheus-sqlite", rules, List.of(site.port()));
    trials.run(site.trials());
    trials.finish();
  }
}
