package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.auction.Bidder;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Gang;
import dev.bourse.capacity.TickPreview;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Invariants of gangs in a simulated month: their first nodes become active together, no node is
 * billed before, and the auction leaves a gang its minimum or its protected nodes alone.
 */
final class GangRules {
  private final Consumer<String> seen;

  GangRules(Consumer<String> seen) {
    this.seen = seen;
  }

  /** Checks a change of a cluster. */
  void judge(Cluster before, Cluster after, long now) {
    int minimum = Gang.minimumSlots(after, SimulatedBooks.GPUS);
    int active = 0;
    int begun = 0;
    boolean ownOnes = false;
    for (Allocation is : after.allocations()) {
      boolean isActive = is.state() == Allocation.State.ACTIVE;
      if (is.state() == Allocation.State.PROVISIONING) {
        assertNull(is.activeAtMillis(), "billed before it is active");
      }
      active += isActive && is.fillsSlot() ? 1 : 0;
      Optional<Allocation> was = before.find(is.allocationId());
      if (isActive && was.filter(a -> a.state() == Allocation.State.ACTIVE).isEmpty()) {
        assertEquals(now, is.activeAtMillis(), "billed from when it became active");
        begun++;
        ownOnes |= !isInPlaceOfActive(before, was);
        // A minimum that was raised since the grant does not apply to its nodes.
        minimum = Math.min(minimum, is.minimumSlots() == null ? minimum : is.minimumSlots());
      }
    }
    if (ownOnes && minimum > 1) {
      int whole = active;
      int least = minimum;
      assertTrue(whole >= least, () -> whole + " of at least " + least + " are active: " + after);
      if (begun >= minimum) {
        seen.accept("gang active at one moment");
      }
    }
  }

  private static boolean isInPlaceOfActive(Cluster before, Optional<Allocation> was) {
    return was.map(Allocation::replaces)
        .flatMap(before::find)
        .filter(a -> a.state() == Allocation.State.ACTIVE)
        .isPresent();
  }

  /**
   * Checks that a tick leaves a gang at least its minimum of seats, or the seats of protected nodes
   * alone.
   */
  void judge(Tick tick, Tick.Outcome outcome, Cluster cluster, long now) {
    int minimum = cluster.minimumSlots(SimulatedBooks.GPUS);
    if (minimum == 1) {
      return;
    }
    if (outcome.clearing().shortfalls().containsKey(cluster.name())) {
      seen.accept("gang passed over");
    }
    int unseated = outcome.clearing().unseated().getOrDefault(cluster.name(), 0);
    if (cluster.allocations().isEmpty() && unseated == cluster.declaredSlots(SimulatedBooks.GPUS)) {
      return; // It has nothing, and wins nothing: most gangs of a pool that is full.
    }
    TickPreview preview = tick.preview(cluster, outcome);
    int held = 0;
    int shielded = 0;
    int losing = 0;
    for (Allocation a : cluster.releaseOrder()) {
      held++;
      boolean loses =
          preview.lost().contains(a.allocationId())
              || preview.noticed().containsKey(a.allocationId());
      losing += loses ? 1 : 0;
      shielded += !loses && a.isShielded(now, cluster.ceilingCents()) ? 1 : 0;
    }
    int kept = held - losing;
    int seats = kept + preview.nodesWon();
    boolean isProtectedAlone = kept == shielded && preview.nodesWon() == 0;
    // A gang that may not bid for its minimum keeps the nodes for which no bid is higher.
    boolean maySeekAll =
        Tick.participation(cluster) == Bidder.Participation.OPEN && tick.bids(cluster) >= minimum;
    boolean isKeptAlone = preview.nodesWon() == 0 && !maySeekAll;
    assertTrue(
        seats == 0 || seats >= minimum || isProtectedAlone || isKeptAlone,
        () -> seats + " seats of at least " + minimum + ": " + cluster);
    if (losing > 1 && kept < minimum) {
      seen.accept("gang taken as a whole");
    }
  }
}
