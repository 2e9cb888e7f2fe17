package dev.bourse.market;

import static dev.bourse.capacity.Sample.POOL;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.DirectChange;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.TickPreview;
import dev.bourse.nodes.Machine;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The nodes that organizations can afford to bid for. */
@Tag("fast")
class SpendingAllowanceTest {
  private static final long NODE_HOUR_AT_TWO = 16_000_000;

  private static Cluster declaring(String name, int nodes, String price) {
    Cluster empty =
        Cluster.created(name, "acme", POOL.name(), Cluster.Kind.VM, Cluster.Posture.MARKET);
    return Capacity.declare(empty, Sample.order(nodes * 8, price, 0), Sample.TERMS, Sample.T0)
        .next();
  }

  private static Map<String, Integer> affordable(long micros, long window, Cluster... clusters) {
    return new SpendingAllowance(Map.of("acme", micros), window).affordable(List.of(clusters), 8);
  }

  @Test
  void whoHasNoLimitIsNotHeldBack() {
    assertEquals(
        Map.of(), SpendingAllowance.UNLIMITED.affordable(List.of(declaring("c", 3, "2")), 8));
    assertEquals(
        Map.of(),
        new SpendingAllowance(Map.of("globex", 1L), 1)
            .affordable(List.of(declaring("c", 3, "2")), 8));
  }

  @Test
  void aSlotCostsItsCeilingForTheProtection() {
    Cluster cluster = declaring("c", 3, "2");

    assertEquals(Map.of("c", 1), affordable(2 * NODE_HOUR_AT_TWO - 1, Sample.PROTECTION, cluster));
    assertEquals(Map.of("c", 2), affordable(2 * NODE_HOUR_AT_TWO, Sample.PROTECTION, cluster));
    assertEquals(Map.of("c", 3), affordable(2 * NODE_HOUR_AT_TWO, Sample.PROTECTION / 2, cluster));
  }

  @Test
  void clustersShareWhatIsLeftTheHighestCeilingFirst() {
    assertEquals(
        Map.of("b", 1, "a", 1),
        affordable(
            3 * NODE_HOUR_AT_TWO,
            Sample.PROTECTION,
            declaring("a", 3, "2"),
            declaring("b", 1, "4")));
  }

  @Test
  void clustersThatCannotWinNodesLeaveWhatIsLeftToTheOthers() {
    Cluster fixed =
        DirectChange.posture(Cluster.Posture.STATIC).apply(declaring("fixed", 3, "4"), 0).next();
    Cluster paused =
        DirectChange.hold(new Hold(Hold.Stage.NOTICE, "balance", null))
            .apply(declaring("paused", 3, "4"), 0)
            .next();

    assertEquals(
        Map.of("open", 2),
        affordable(
            2 * NODE_HOUR_AT_TWO, Sample.PROTECTION, fixed, paused, declaring("open", 3, "2")));
  }

  @Test
  void aPreviewCountsNothingAsWonThatCannotBeAfforded() {
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      nodes.add(new Node(new Machine("m" + i, Sample.ip(i), 22, null), false, 0, 0, null));
    }
    Cluster before = declaring("c", 0, "2");
    Cluster after = declaring("c", 5, "2");
    SpendingAllowance allowance =
        new SpendingAllowance(Map.of("acme", 2 * NODE_HOUR_AT_TWO), Sample.PROTECTION);
    Tick tick =
        new Tick(POOL, Sample.views(before), Sample.FRESHNESS, allowance, Sample.T0).with(after);
    TickPreview preview =
        tick.preview(after, tick.decide(new Tick.Nodes(nodes, Set.of(), Map.of())));

    assertEquals(2, preview.nodesWon());
    assertEquals(2, preview.nodesGranted());
    assertEquals(3, preview.nodesUnfilled());
  }

  @Test
  void withNothingLeftNothingIsBought() {
    assertEquals(Map.of("c", 0), affordable(0, 0, declaring("c", 3, "2")));
    assertEquals(Map.of("c", 3), affordable(1, 0, declaring("c", 3, "2")));
  }

  @Test
  void aTickGrantsWhatCanBeAffordedAndKeepsWhatIsHeld() {
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      nodes.add(new Node(new Machine("m" + i, Sample.ip(i), 22, null), false, 0, 0, null));
    }
    SpendingAllowance allowance =
        new SpendingAllowance(Map.of("acme", 2 * NODE_HOUR_AT_TWO), Sample.PROTECTION);
    Tick tick =
        new Tick(
            POOL, Sample.views(declaring("c", 5, "2")), Sample.FRESHNESS, allowance, Sample.T0);
    Tick.Outcome outcome = tick.decide(new Tick.Nodes(nodes, Set.of(), Map.of()));

    assertEquals(2, outcome.clearing().grants().size());
    assertEquals(Map.of(), outcome.clearing().unseated(), "not bid for, so not lost");
    Tick broke =
        new Tick(
            POOL,
            Sample.views(Sample.active(2)),
            Sample.FRESHNESS,
            new SpendingAllowance(Map.of("acme", 0L), Sample.PROTECTION),
            Sample.T0 + 3 * Sample.PROTECTION);
    List<Node> held = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      held.add(new Node(new Machine("n" + i, Sample.ip(i), 22, null), false, 0, 0, null));
    }
    assertEquals(
        List.of(), broke.decide(new Tick.Nodes(held, Set.of(), Map.of())).clearing().reclaims());
  }
}
