package dev.bourse.simulation;

import java.io.PrintWriter;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command line of the simulation: many seeds, one seed with its trace, or every planted bug.
 */
@Command(
    name = "simulate",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Runs the service in simulations, each decided by a seed.")
@SuppressWarnings("NullAway.Init") // picocli sets the fields.
public final class Simulate implements Callable<Integer> {
  private static final int TRACE_LINES = 100_000;

  @Spec CommandSpec spec;

  @Option(names = "--seeds", paramLabel = "N", description = "how many seeds to run (1000)")
  int seeds = 1_000;

  @Option(names = "--from", paramLabel = "SEED", description = "the first of them (0)")
  long from;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "simulations at a time (one for each core)")
  int threads = Runtime.getRuntime().availableProcessors();

  @Option(
      names = "--seed",
      paramLabel = "SEED",
      description = "run this one alone, and tell what happened")
  @Nullable Long seed;

  @Option(
      names = "--only",
      paramLabel = "STEP",
      split = ",",
      description = "of its plan, these steps alone; an empty list for none")
  @Nullable List<String> only;

  @Option(names = "--bug", paramLabel = "NAME", description = "plant this bug")
  @Nullable String bug;

  @Option(
      names = "--bugs",
      description = "plant every bug in turn, and tell how many seeds it takes to find it")
  boolean bugs;

  @Option(
      names = "--count",
      description = "tell how many seeds violate which invariant, and shrink none of them")
  boolean count;

  @Option(names = "--large", description = "measure a world of 3 replicas and 200 clusters instead")
  boolean large;

  private PrintWriter out;

  /** Runs the command. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new Simulate()).execute(args));
  }

  @Override
  public Integer call() throws InterruptedException {
    out = spec.commandLine().getOut();
    if (bugs) {
      return findBugs();
    }
    Bug planted = bug == null ? Bug.NONE : named(bug);
    if (seed != null) {
      return replay(plan(seed), planted);
    }
    return large ? measure(planted) : count ? countFinds(planted) : runAll(planted);
  }

  private Bug named(String name) {
    return Bug.all().stream()
        .filter(known -> known.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new CommandLine.ParameterException(
                    spec.commandLine(),
                    "--bug "
                        + name
                        + ": there are "
                        + Bug.all().stream().map(Bug::name).collect(Collectors.joining(", "))));
  }

  private Plan plan(long of) {
    Plan whole = Plan.of(of);
    return only == null
        ? whole
        : whole.only(only.stream().filter(s -> !s.isBlank()).map(Integer::valueOf).toList());
  }

  private int replay(Plan plan, Bug planted) {
    Simulation.Outcome outcome = Simulation.run(plan, planted, TRACE_LINES);
    out.println(plan.scale());
    plan.steps().forEach(step -> out.println("  " + step));
    out.println(outcome.trace());
    ViolationException violation = outcome.violation();
    out.println(
        violation == null ? "seed " + plan.seed() + " holds" : told(plan, planted, violation));
    out.flush();
    return violation == null ? 0 : 1;
  }

  private int runAll(Bug planted) throws InterruptedException {
    long began = System.nanoTime();
    SeedRun run = SeedRun.of(from, from + seeds, threads, planted, Integer.MAX_VALUE);
    double seconds = (System.nanoTime() - began) / 1e9;
    for (Simulation.Outcome outcome : run.violated()) {
      tell(outcome, planted);
    }
    out.printf(
        Locale.ROOT,
        "%,d seeds, %,d violated an invariant; %,d writes acknowledged; %.1f simulated hours in"
            + " %.1f s, %,.0f times real time%n",
        seeds,
        run.violated().size(),
        run.acknowledged(),
        run.simulatedMillis() / 3.6e6,
        seconds,
        run.simulatedMillis() / 1e3 / seconds);
    out.flush();
    return run.violated().isEmpty() ? 0 : 1;
  }

  private int countFinds(Bug planted) throws InterruptedException {
    SeedRun run = SeedRun.of(from, from + seeds, threads, planted, Integer.MAX_VALUE);
    SortedMap<String, Long> finders =
        run.violated().stream()
            .map(Simulation.Outcome::violation)
            .filter(Objects::nonNull)
            .collect(
                Collectors.groupingBy(
                    ViolationException::invariant, TreeMap::new, Collectors.counting()));
    if (planted == Bug.NONE) {
      run.violated()
          .forEach(outcome -> out.println(outcome.plan().seed() + " " + outcome.violation()));
    }
    out.printf(
        Locale.ROOT,
        "%s: found by %,d of %,d seeds: %s%n",
        planted.name(),
        run.violated().size(),
        seeds,
        finders);
    out.flush();
    return run.violated().isEmpty() ? 1 : 0;
  }

  /** Prints a violation, the fewest steps that cause it, and the command that replays them. */
  private void tell(Simulation.Outcome outcome, Bug planted) {
    Plan plan = outcome.plan();
    ViolationException violation = outcome.violation();
    if (violation == null) {
      return;
    }
    out.println(told(plan, planted, violation));
    Plan shrunk = Shrinker.shrink(plan, planted, violation);
    out.printf("  needs %d of its %d steps%n", shrunk.steps().size(), plan.steps().size());
    shrunk.steps().forEach(step -> out.println("    " + step));
    out.println("  replay: " + replayCommand(shrunk, planted));
    out.flush();
  }

  private static String told(Plan plan, Bug planted, ViolationException violation) {
    return "seed "
        + plan.seed()
        + (planted == Bug.NONE ? "" : " with " + planted.name())
        + ": "
        + violation.getMessage();
  }

  /** Returns the command that replays a plan with its full trace. */
  static String replayCommand(Plan plan, Bug planted) {
    return "scripts/simulate --seed "
        + plan.seed()
        + " --only "
        + (plan.steps().isEmpty()
            ? "''"
            : plan.steps().stream()
                .map(step -> String.valueOf(step.number()))
                .collect(Collectors.joining(",")))
        + (planted == Bug.NONE ? "" : " --bug " + planted.name());
  }

  private int findBugs() throws InterruptedException {
    int missed = 0;
    for (Bug planted : Bug.all()) {
      SeedRun run = SeedRun.of(from, from + seeds, threads, planted, 1);
      Optional<Simulation.Outcome> found =
          run.violated().stream().min(Comparator.comparingLong(o -> o.plan().seed()));
      if (found.isEmpty()) {
        missed++;
      }
      out.printf(
          "%-36s %s%n",
          planted.name(),
          found
              .map(
                  o ->
                      "seed "
                          + o.plan().seed()
                          + ", by "
                          + (o.violation() == null ? "" : o.violation().invariant()))
              .orElse("not found in " + seeds + " seeds"));
      out.flush();
    }
    return missed == 0 ? 0 : 1;
  }

  /** Runs one long simulation of a large world on one core, without faults. */
  private int measure(Bug planted) {
    Simulation.run(Plan.large(from, 60_000), planted, 0);
    Plan plan = Plan.large(from, 3_600_000);
    long began = System.nanoTime();
    Simulation.Outcome outcome = Simulation.run(plan, planted, 0);
    double seconds = (System.nanoTime() - began) / 1e9;
    out.printf(
        Locale.ROOT,
        "%s: %.2f simulated hours in %.1f s, %,.0f times real time; %,d writes acknowledged%n",
        plan.scale(),
        outcome.simulatedMillis() / 3.6e6,
        seconds,
        outcome.simulatedMillis() / 1e3 / seconds,
        outcome.acknowledged());
    ViolationException violation = outcome.violation();
    if (violation != null) {
      out.println(told(plan, planted, violation));
    }
    out.flush();
    return violation == null ? 0 : 1;
  }

  /**
   * The result of a range of seeds.
   *
   * @param violated outcomes with a violation
   */
  record SeedRun(List<Simulation.Outcome> violated, long simulatedMillis, long acknowledged) {
    /**
     * Runs seeds, some at a time.
     *
     * @param enough no more are started after this many violations
     */
    static SeedRun of(long from, long to, int threads, Bug planted, int enough)
        throws InterruptedException {
      AtomicLong next = new AtomicLong(from);
      AtomicLong simulated = new AtomicLong();
      AtomicLong acknowledged = new AtomicLong();
      ConcurrentLinkedQueue<Simulation.Outcome> violated = new ConcurrentLinkedQueue<>();
      ConcurrentLinkedQueue<Throwable> broken = new ConcurrentLinkedQueue<>();
      List<Thread> workers =
          java.util.stream.IntStream.range(0, threads)
              .mapToObj(
                  i ->
                      new Thread(
                          () -> {
                            try {
                              for (long at = next.getAndIncrement();
                                  at < to && violated.size() < enough;
                                  at = next.getAndIncrement()) {
                                Simulation.Outcome outcome =
                                    Simulation.run(Plan.of(at), planted, 0);
                                simulated.addAndGet(outcome.simulatedMillis());
                                acknowledged.addAndGet(outcome.acknowledged());
                                if (outcome.violation() != null) {
                                  violated.add(outcome);
                                }
                              }
                            } catch (RuntimeException | Error e) {
                              broken.add(e);
                            }
                          },
                          "simulation-" + i))
              .toList();
      workers.forEach(Thread::start);
      for (Thread worker : workers) {
        worker.join();
      }
      if (!broken.isEmpty()) {
        throw new IllegalStateException("a simulation broke", broken.peek());
      }
      List<Simulation.Outcome> sorted =
          violated.stream().sorted(Comparator.comparingLong(o -> o.plan().seed())).toList();
      return new SeedRun(sorted, simulated.get(), acknowledged.get());
    }
  }
}
