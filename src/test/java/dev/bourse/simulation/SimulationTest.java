package dev.bourse.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.Slow;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The service keeps its guarantees under all faults; see the package's tour. A failure names its
 * seed and the command that replays it.
 */
@Tag("simulation")
class SimulationTest {
  /** Half a minute on two cores; {@code scripts/simulate} runs any number. */
  private static final int SEEDS = 120;

  @Test
  @Slow("simulates 120 worlds")
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
    assertTrue(run.acknowledged() > SEEDS, "too few operations: " + run.acknowledged());
  }

  @Test
  void theSameSeedIsTheSameSimulation() {
    long first = Simulation.run(Plan.of(7), Bug.NONE, 0).digest();
    assertEquals(first, Simulation.run(Plan.of(7), Bug.NONE, 0).digest());
    assertNotEquals(first, Simulation.run(Plan.of(8), Bug.NONE, 0).digest());
  }

  @Test
  @Slow("shrinking a plan of 66 steps runs a simulation for each step left out")
  void aPlantedBugIsFoundAndItsPlanShrunk() throws Exception {
    Bug bug = StoreBug.REVISION_NOT_DEMANDED;
    Simulate.SeedRun run = Simulate.SeedRun.of(0, SEEDS, 1, bug, 1);
    Simulation.Outcome found = run.violated().get(0);
    ViolationException violation = Objects.requireNonNull(found.violation());

    Plan shrunk = Shrinker.shrink(found.plan(), bug, violation);

    assertTrue(shrunk.steps().size() < found.plan().steps().size(), shrunk::toString);
    ViolationException again = Simulation.run(shrunk, bug, 0).violation();
    assertTrue(again != null && again.invariant().equals(violation.invariant()), shrunk::toString);
  }

  @Test
  void aPlanWithoutStepsHolds() {
    Plan plan = Plan.of(3).only(List.of());
    assertEquals(List.of(), plan.steps());
    assertEquals(null, Simulation.run(plan, Bug.NONE, 0).violation());
  }
}
