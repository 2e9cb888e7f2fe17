package dev.bourse.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The log lines about clusters. */
class EventTallyTest {
  private static final ClusterEvent GRANTED = new ClusterEvent.Granted("198.18.0.3");
  private final EventTally tally = new EventTally();

  @Test
  void whatHappensInAPoolIsOneLine() {
    tally.add("h100", "acme-train", GRANTED);
    tally.add("h100", "acme-train", GRANTED);
    tally.add("h100", "globex-main", GRANTED);
    tally.add("h100", "hooli", new ClusterEvent.Released("198.18.0.4", Allocation.Reason.OUTBID));
    tally.add("a100", "hooli", new ClusterEvent.HoldLifted());
    assertEquals(
        List.of(
            "pool a100: billing hold lifted × 1 (hooli)",
            "pool h100: node granted × 3 (acme-train, globex-main);"
                + " node reclaimed, outbid × 1 (hooli)"),
        tally.take());
  }

  @Test
  void whatWasToldIsNotToldAgain() {
    tally.add("h100", "acme-train", GRANTED);
    tally.take();
    assertTrue(tally.isEmpty());
    assertEquals(List.of(), tally.take());
  }

  @Test
  void sixtyThousandGrantsAreOneShortLine() {
    for (int i = 0; i < 60_000; i++) {
      tally.add("h100", "cluster-" + i, GRANTED);
    }
    assertEquals(
        List.of(
            "pool h100: node granted × 60000"
                + " (cluster-0, cluster-1, cluster-2, cluster-3, cluster-4, …)"),
        tally.take());
  }

  @Test
  void causesThatAllDifferAreOneShortLine() {
    for (int i = 0; i < 10_000; i++) {
      tally.add("h100", "c", new ClusterEvent.Unwound(null, "cause " + i));
    }
    List<String> lines = tally.take();
    assertEquals(1, lines.size());
    assertTrue(lines.get(0).endsWith("; other events × 9988 (c)"), lines.get(0));
  }

  @Test
  void theAddressOfANodeIsNotTold() {
    tally.add("h100", "acme-train", GRANTED);
    assertTrue(tally.take().stream().noneMatch(line -> line.contains("198.18")));
  }
}
