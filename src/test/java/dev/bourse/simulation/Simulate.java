package dev.bourse.simulation;

/** Runs simulations. */
public final class Simulate {
  private Simulate() {}

  public static void main(String[] args) {
    long from = Long.parseLong(args[0]);
    long to = Long.parseLong(args[1]);
    int lines = args.length > 2 ? Integer.parseInt(args[2]) : 0;
    Bug bug =
        args.length > 3
            ? Bug.all().stream().filter(b -> b.name().equals(args[3])).findFirst().orElseThrow()
            : Bug.NONE;
    long began = System.nanoTime();
    long simulated = 0;
    long acknowledged = 0;
    for (long seed = from; seed < to; seed++) {
      Simulation.Outcome outcome = Simulation.run(Plan.of(seed), bug, lines);
      simulated += outcome.simulatedMillis();
      acknowledged += outcome.acknowledged();
      Violation violation = outcome.violation();
      if (violation != null) {
        System.out.println("seed " + seed + ": " + violation.getMessage());
        if (lines > 0) {
          System.out.println(outcome.trace());
        }
      }
    }
    double seconds = (System.nanoTime() - began) / 1e9;
    System.out.printf(
        "%d seeds, %d acknowledged, %.1f simulated hours in %.1f s: %.0f times real time%n",
        to - from, acknowledged, simulated / 3.6e6, seconds, simulated / 1e3 / seconds);
  }
}
