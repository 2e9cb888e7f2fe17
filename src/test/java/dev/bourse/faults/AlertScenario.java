package dev.bourse.faults;

import dev.bourse.logs.LogConfig;
import dev.bourse.logs.Logs;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import org.slf4j.event.Level;

/**
 * Checks that each alert of {@code conf/alerts.yaml} fires by the fault it tells of, as a real
 * Prometheus sees the service, that no other alert does, and that it clears when the fault is gone.
 * {@link AlertReplicas} and {@link AlertSite} pair faults with alerts; an alert without a fault
 * fails the run. Nearly all of a trial is waiting, so groups of them run at once. Each group has
 * processes, a database and a Prometheus of its own, because to the rules two services would be
 * one.
 */
final class AlertScenario implements Scenario {
  static final String NAME = "alerts";

  /** Alerts for which there is no fault here, each with the reason. */
  private static final Map<String, String> UNTRIED = Map.of();

  /** Trials of one service, which run one after the other. */
  private record Group(
      String name, AlertTrial.Step start, List<Integer> ports, List<AlertTrial> trials) {}

  @Override
  public String leftOut() throws Exception {
    for (String missing :
        List.of(Prometheus.missing(), LibfaketimeClock.missing(), StoppedLoop.missing())) {
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
    // The machine's ssh server logs each connection that is cut.
    LogConfig usual = LogConfig.defaultConfig();
    Logs.configure(new LogConfig(usual.format(), Level.ERROR, usual.slowMillis()));
    AlertRules rules = new AlertRules(run.conf("alerts.yaml"));
    AlertSite store = new AlertSite(run, "alerts-store");
    List<Group> groups =
        List.of(
            group(run, "processes", AlertReplicas::processTrials),
            group(run, "database", AlertReplicas::databaseTrials),
            new Group("store", store::start, store.ports(), store.storeTrials()),
            machines(run));
    requireAllTried(rules, groups);
    ExecutorService threads = Executors.newFixedThreadPool(groups.size());
    CompletionService<Void> ended = new ExecutorCompletionService<>(threads);
    try {
      for (Group group : groups) {
        // One after the other: all processes starting at once make each other late.
        group.start().run();
        ended.submit(
            () -> {
              tryOut(run, rules, group);
              return null;
            });
      }
      for (int i = 0; i < groups.size(); i++) {
        ended.take().get();
      }
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    } finally {
      threads.shutdownNow();
    }
    store.leftOut().forEach(what -> System.out.println("faults: LEFT OUT: " + what));
    UNTRIED.forEach((alert, why) -> System.out.println("faults: not tried: " + alert + ": " + why));
    System.out.printf(
        "faults: %d alerts fired by %d faults, each by its own alone, and cleared%n",
        rules.names().size() - UNTRIED.size(),
        groups.stream().mapToInt(group -> group.trials().size()).sum());
  }

  private static Group group(Run run, String name, Function<AlertReplicas, List<AlertTrial>> trials)
      throws IOException, SQLException {
    // Some faults are of the database server, so no two groups share one.
    AlertReplicas replicas = new AlertReplicas(run.beside(name), "alerts-" + name);
    return new Group(name, replicas::start, replicas.ports(), trials.apply(replicas));
  }

  private static Group machines(Run run) throws Exception {
    AlertSite site = new AlertSite(run, "alerts-machines");
    return new Group("machines", site::start, site.ports(), site.machineTrials());
  }

  private static void requireAllTried(AlertRules rules, List<Group> groups) {
    Set<String> tried = new TreeSet<>(UNTRIED.keySet());
    groups.forEach(group -> group.trials().forEach(trial -> tried.addAll(trial.fires())));
    if (!tried.equals(rules.names())) {
      throw new ViolatedException(
          "the rules have the alerts " + rules.names() + ", and there are faults for " + tried);
    }
  }

  private static void tryOut(Run run, AlertRules rules, Group group) throws Exception {
    new AlertTrials(run, "prometheus-" + group.name(), rules, group.ports()).run(group.trials());
  }
}
