package dev.bourse.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Runs scenarios, some at once because each waits for most of its time, and ends with 1 at the
 * first that is violated.
 *
 * <p>Arguments: options, names of scenarios (none for all), {@code --} and what starts the service.
 * {@code --folder} is where everything is left, {@code --kills} how often each engine is killed,
 * {@code --seed} what chances are drawn from, {@code --plant} a fault of the run's own, {@code
 * --previous} the jar of the release before, {@code --conf} the folder of what operators are given,
 * {@code --at-once} how many scenarios run at a time.
 */
public final class Faults {
  private static final Map<String, Supplier<Scenario>> SCENARIOS = new LinkedHashMap<>();

  // In this order they start: the longest first, so that none is left to run alone.
  static {
    SCENARIOS.put("network", Networks::new);
    SCENARIOS.put("database", Databases::new);
    SCENARIOS.put("kills-postgres", () -> Kills::ofReplicas);
    SCENARIOS.put("clock-postgres", () -> new Clocks(true));
    SCENARIOS.put("clock-sqlite", () -> new Clocks(false));
    SCENARIOS.put("freezes", Freezes::new);
    SCENARIOS.put("disk-full", FullDisk::new);
    SCENARIOS.put("disk-read-only", ReadOnlyDisk::new);
    SCENARIOS.put("kills-sqlite", () -> Kills::ofOneProcess);
    SCENARIOS.put(ObjectStores.NAME, ObjectStores::new);
    SCENARIOS.put(Upgrades.NAME, Upgrades::new);
    SCENARIOS.put(AlertScenario.NAME, AlertScenario::new);
  }

  private Path folder = Path.of("target", "faults");
  private int kills = Run.ALL_KILLS;
  private int atOnce = 1;
  private long seed = System.nanoTime();
  private Plant plant = Plant.NONE;
  private Path previous = Path.of("");
  private Path conf = Path.of("conf");
  private final List<String> names = new ArrayList<>();
  private List<String> launch = List.of();

  private Faults() {}

  /** See the class. */
  public static void main(String[] arguments) throws Exception {
    Faults faults = new Faults();
    faults.understand(List.of(arguments));
    System.exit(faults.runAll() ? 0 : 1);
  }

  private void understand(List<String> arguments) {
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      switch (argument) {
        case "--folder" -> folder = Path.of(arguments.get(++i)).toAbsolutePath();
        case "--kills" -> kills = Integer.parseInt(arguments.get(++i));
        case "--at-once" -> atOnce = Integer.parseInt(arguments.get(++i));
        case "--seed" -> seed = Long.parseLong(arguments.get(++i));
        case "--plant" -> plant = Plant.of(arguments.get(++i));
        case "--conf" -> conf = Path.of(arguments.get(++i)).toAbsolutePath();
        case "--previous" -> previous = Path.of(arguments.get(++i)).toAbsolutePath();
        case "--" -> {
          launch = arguments.subList(i + 1, arguments.size());
          i = arguments.size();
        }
        default -> {
          if (!SCENARIOS.containsKey(argument)) {
            throw new IllegalArgumentException(
                "there is no scenario " + argument + "; there are " + SCENARIOS.keySet());
          }
          names.add(argument);
        }
      }
    }
    if (names.isEmpty()) {
      names.addAll(SCENARIOS.keySet());
      // These take what whoever asks for them has: a server of somebody else's, another jar,
      // Prometheus.
      names.removeAll(List.of(ObjectStores.NAME, Upgrades.NAME, AlertScenario.NAME));
    }
  }

  private boolean runAll() throws IOException, InterruptedException, ExecutionException {
    folder = Files.createDirectories(folder.resolve(Long.toString(seed)));
    // A scenario that cannot start ends the process with its error, because the threads are
    // daemons.
    ExecutorService threads =
        Executors.newFixedThreadPool(
            atOnce,
            scenario -> {
              Thread thread = new Thread(scenario);
              thread.setDaemon(true);
              return thread;
            });
    CompletionService<Boolean> ended = new ExecutorCompletionService<>(threads);
    for (String name : names) {
      ended.submit(() -> runOne(name));
    }
    for (int i = 0; i < names.size(); i++) {
      // Those that still run are taken down when the process exits.
      if (!ended.take().get()) {
        return false;
      }
    }
    return true;
  }

  private boolean runOne(String name) throws IOException {
    Run run = new Run(launch, previous, conf, folder, seed, kills, plant, name);
    long began = System.nanoTime();
    try {
      Scenario scenario = Objects.requireNonNull(SCENARIOS.get(name)).get();
      String leftOut = scenario.leftOut();
      if (!leftOut.isEmpty()) {
        System.out.println("faults: " + name + ": LEFT OUT: " + leftOut);
        return true;
      }
      runWithin(run, scenario);
    } catch (Exception e) {
      System.err.println("faults: " + name + ": FAILED: " + e.getMessage());
      if (!(e instanceof ViolatedException) || e.getCause() != null) {
        e.printStackTrace();
      }
      System.err.println(
          "faults: the history is "
              + run.leave()
              + ", all else in "
              + folder
              + "; again with --seed "
              + seed
              + " "
              + name);
      return false;
    }
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
    System.out.println("faults: " + name + " took " + seconds + " s");
    return true;
  }

  /** A scenario that hangs ends the run; what it started is taken down with it. */
  private void runWithin(Run run, Scenario scenario) throws Exception {
    Thread runner = Thread.currentThread();
    Thread watch =
        new Thread(
            () -> {
              try {
                TimeUnit.MINUTES.sleep(scenario.minutes());
              } catch (InterruptedException over) {
                return;
              }
              System.err.println(
                  "faults: FAILED: not over within " + scenario.minutes() + " min, at");
              for (StackTraceElement element : runner.getStackTrace()) {
                System.err.println("  " + element);
              }
              System.exit(1);
            });
    watch.setDaemon(true);
    watch.start();
    try {
      scenario.run(run);
    } finally {
      watch.interrupt();
    }
  }
}
