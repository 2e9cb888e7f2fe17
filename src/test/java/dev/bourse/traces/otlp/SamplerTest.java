package dev.bourse.traces.otlp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.traces.TraceParent;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The sampling of requests. */
class SamplerTest {
  private static final TraceParent SAMPLED = new TraceParent("1".repeat(32), "1".repeat(16), true);
  private static final TraceParent NOT = new TraceParent("1".repeat(32), "1".repeat(16), false);

  private static long taken(
      Sampler sampler, @Nullable TraceParent caller, double drawn, long second) {
    return IntStream.range(0, 1_000)
        .filter(i -> sampler.takes(caller, drawn, TimeUnit.SECONDS.toNanos(second) + i))
        .count();
  }

  @Test
  void aShareIsTakenOfWhatClientsSayNothingOf() {
    Sampler sampler = new Sampler(0.25, 0);
    assertTrue(sampler.takes(null, 0.249, 0));
    assertFalse(sampler.takes(null, 0.25, 0));
  }

  @Test
  void aShareOfNothingTakesNothingAndOfAllTakesAll() {
    assertFalse(new Sampler(0, 0).takes(null, 0, 0));
    assertTrue(new Sampler(1, 0).takes(null, Math.nextDown(1.0), 0));
  }

  @Test
  void whatAClientDoesNotTraceIsNotTracedHere() {
    assertFalse(new Sampler(1, 0).takes(NOT, 0, 0));
  }

  @Test
  void aClientThatTracesAllIsFollowedForSoManyASecond() {
    Sampler sampler = new Sampler(0, 0);
    assertEquals(Sampler.FOLLOWED_PER_SECOND, taken(sampler, SAMPLED, 0.5, 0));
    assertEquals(Sampler.FOLLOWED_PER_SECOND, taken(sampler, SAMPLED, 0.5, 1));
    assertEquals(Sampler.FOLLOWED_PER_SECOND, taken(sampler, SAMPLED, 0.5, 100));
  }

  @Test
  void theShareIsTakenOfThemAllTheSame() {
    Sampler sampler = new Sampler(0.25, 0);
    assertEquals(Sampler.FOLLOWED_PER_SECOND, taken(sampler, SAMPLED, 0.5, 0));
    assertEquals(1_000, taken(sampler, SAMPLED, 0.1, 0));
  }
}
