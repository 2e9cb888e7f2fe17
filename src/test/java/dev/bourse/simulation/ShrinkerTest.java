package dev.bourse.simulation;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Finds a planted bug and the smallest plan that shows it. A class of its own, because it takes
 * seconds and one thread, and runs beside the worlds of {@link SimulationTest}.
 */
@Tag("simulation")
class ShrinkerTest {
  @Test
  void aPlantedBugIsFoundAndItsPlanShrunk() throws Exception {
    Bug bug = StoreBug.REVISION_NOT_DEMANDED;
    Simulate.SeedRun run = Simulate.SeedRun.of(0, 200, 1, bug, 1);
    Simulation.Outcome found = run.violated().get(0);
    Violation violation = Objects.requireNonNull(found.violation());

    Plan shrunk = Shrinker.shrink(found.plan(), bug, violation);

    assertTrue(shrunk.steps().size() < found.plan().steps().size(), shrunk::toString);
    Violation again = Simulation.run(shrunk, bug, 0).violation();
    assertTrue(again != null && again.invariant().equals(violation.invariant()), shrunk::toString);
  }
}
