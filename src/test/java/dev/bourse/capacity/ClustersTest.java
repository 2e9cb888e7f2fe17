package dev.bourse.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.FakeClock;
import dev.bourse.pools.Switches;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The clusters in memory, found by the allocations that they hold. */
@Tag("fast")
class ClustersTest {
  /** Lists that share their beginnings and ends, and any others, are told apart. */
  @Test
  void anAllocationIsFoundAtItsHolderWhileItIsOpen() {
    Clusters clusters = new Clusters(new Switches(true, true, true), new FakeClock(Sample.T0));
    clusters.put(Sample.POOL);
    Cluster held = Sample.active(12);
    List<Allocation> all = held.allocations();
    Random random = new Random(7);
    for (int round = 0; round < 500; round++) {
      List<Allocation> next = new ArrayList<>();
      for (Allocation allocation : all) {
        switch (random.nextInt(4)) {
          case 0 -> {}
          case 1 -> next.add(allocation.startReclaim(Allocation.Reason.SCALE_DOWN, Sample.T0));
          default -> next.add(allocation);
        }
      }
      if (random.nextInt(5) == 0) {
        Collections.shuffle(next, random);
      }
      clusters.publish(held.withAllocations(next));
      Set<String> open =
          next.stream()
              .filter(Allocation::isOpen)
              .map(Allocation::allocationId)
              .collect(Collectors.toSet());
      for (Allocation allocation : all) {
        assertEquals(
            open.contains(allocation.allocationId()),
            clusters.findHolder(allocation.allocationId()).isPresent(),
            "round " + round);
      }
    }
    clusters.remove(held);
    all.forEach(a -> assertTrue(clusters.findHolder(a.allocationId()).isEmpty()));
  }

  /** The next ticks must read it, because it limits the organization's other clusters. */
  @Test
  void aClusterThatRefusedANodeIsNotIdle() {
    Clusters clusters = new Clusters(new Switches(true, true, true), new FakeClock(Sample.T0));
    clusters.put(Sample.POOL);
    Cluster refused =
        MarketTransitions.joinRefused(Sample.onK8s(Sample.provisioning(1)), "a0", Sample.T0 + 5_000)
            .next();
    refused = MarketTransitions.reclaimed(refused, "a0").next();
    refused =
        Capacity.declare(
                refused,
                Sample.order(0, "2.00", refused.version()),
                Sample.TERMS,
                Sample.T0 + 600_000)
            .next();
    clusters.publish(DirectChange.neverGaveUp(refused));
    assertEquals(1, clusters.stirringIn("h100").size());
  }
}
