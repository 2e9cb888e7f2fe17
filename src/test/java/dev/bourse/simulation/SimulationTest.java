package dev.bourse.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The service keeps its promises whatever goes wrong; see the package's tour. A failure names its
 * seed and the command that shows how it came to it.
 */
@Tag("simulation")
class SimulationTest {
  /** Half a minute on two cores; {@code scripts/simulate} takes as many as there is time for. */
  private static final int SEEDS = 120;

  @Test
  void everyInvariantHoldsInOverAHundredWorlds() throws Exception {
    Simulate.SeedRun run =
        Simulate.SeedRun.of(
            0, SEEDS, Runtime.getRuntime().availableProcessors(), Bug.NONE, Integer.MAX_VALUE);
    assertEquals(
        List.of(),
        run.violated(),
        () ->
            run.violated().stream()
                .map(o -> o.violation() + "\n  " + Simulate.replayCommand(o.plan(), Bug.NONE))
                .collect(Collectors.joining("\n")));
    assertTrue(run.acknowledged() > SEEDS, "hardly anything was done: " + run.acknowledged());
  }

  @Test
  void theSameSeedIsTheSameSimulation() {
    long first = Simulation.run(Plan.of(7), Bug.NONE, 0).digest();
    assertEquals(first, Simulation.run(Plan.of(7), Bug.NONE, 0).digest());
    assertNotEquals(first, Simulation.run(Plan.of(8), Bug.NONE, 0).digest());
  }

  /** Takes seconds: shrinking a plan of 66 steps runs a simulation for each step left out. */
  @Test
  void aPlantedBugIsFoundAndItsPlanShrunk() throws Exception {
    Bug bug = StoreBug.REVISION_NOT_DEMANDED;
    Simulate.SeedRun run = Simulate.SeedRun.of(0, SEEDS, 1, bug, 1);
    Simulation.Outcome found = run.violated().get(0);
    Violation violation = Objects.requireNonNull(found.violation());

    Plan shrunk = Shrinker.shrink(found.plan(), bug, violation);

    assertTrue(shrunk.steps().size() < found.plan().steps().size(), shrunk::toString);
    Violation again = Simulation.run(shrunk, bug, 0).violation();
    assertTrue(again != null && again.invariant().equals(violation.invariant()), shrunk::toString);
  }

  @Test
  void aPlanWithoutStepsHolds() {
    Plan plan = Plan.of(3).only(List.of());
    assertEquals(List.of(), plan.steps());
    assertEquals(null, Simulation.run(plan, Bug.NONE, 0).violation());
  }
}
