package dev.bourse.simulation.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.OneEngine;
import dev.bourse.testing.Slow;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/**
 * Every operation of every contract under hostile input, a part of the mutations of {@code
 * scripts/hostile}. Always the same part, so that the build is reproducible.
 */
@OneEngine(
    "what is refused never reaches a store; scripts/hostile --postgres sends all of it to the"
        + " other")
class HostileInputTest {
  private static final long SEED = 20_261_122;

  /** A dozen requests an operation, two thousand in all, within half a minute. */
  private static final Fuzzer.Effort EFFORT = new Fuzzer.Effort(2, 2);

  /**
   * The longest that a request may hold an event loop. Far above the goal of 20 ms, which a busy
   * machine and code that is not compiled yet both miss.
   */
  private static final double MOST_HELD_MILLIS = 500;

  @Test
  @Slow("sends over two thousand requests, a dozen for each operation")
  void noOperationFailsFallsSilentOrLeavesTheContract() throws IOException {
    try (HostileTarget world = new HostileTarget();
        LoopHoldProbe probe = HostileInputRun.probe(world);
        Fuzzer fuzzer = new Fuzzer(world, probe, SEED, Fuzzer.PATIENCE_MILLIS)) {
      assertEquals(new TreeSet<>(), world.missing(), "operations without a sample");
      for (Map.Entry<String, Supplier<AcceptedRequest>> sample : world.samples().entrySet()) {
        fuzzer.attack(sample.getKey(), sample.getValue(), EFFORT);
        Set<String> kinds = fuzzer.kinds(sample.getKey());
        assertEquals(
            Set.of("BODY", "PARAMETER", "HEADER", "FRAMING", "BYTES"), kinds, sample.getKey());
      }
      assertEquals(world.samples().keySet(), fuzzer.tried());
      System.out.println("hostile input: " + fuzzer.summary());
      List<LoopHoldProbe.Hold> longest = probe.longest();
      longest.stream().limit(1).forEach(hold -> System.out.println("longest hold: " + hold));
      assertTrue(
          fuzzer.findings().isEmpty(), () -> "\n" + String.join("\n\n", fuzzer.findings()) + "\n");
      assertTrue(
          longest.get(0).busyMillis() < MOST_HELD_MILLIS,
          () -> "an event loop was held: " + longest.get(0) + longest.get(0).doing());
    }
  }
}
