package dev.bourse.market;

import static dev.bourse.capacity.Sample.T0;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.MarketTransitions;
import dev.bourse.capacity.NoticeOrders;
import dev.bourse.capacity.Sample;
import dev.bourse.core.Times;
import dev.bourse.nodes.NodeNotice;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The notices for programs on machines, computed from stored state and the time. */
@Tag("fast")
class ProgramNoticesTest {
  private static final long NOW = T0 + 100_000;
  private static final NodeNotice OUTBID = new NodeNotice("outbid", NOW + 60_000, false);

  private static Optional<NodeNotice> standing(Cluster cluster, long now) {
    return ProgramNotices.standing(cluster, Sample.at(cluster, 0), null, now);
  }

  private static Cluster noticed(Cluster cluster, long endsAtMillis) {
    NoticeOrders given =
        new NoticeOrders(
            Map.of("a0", new Allocation.Notice(Allocation.Reason.OUTBID, endsAtMillis)),
            List.of(),
            List.of());
    return MarketTransitions.settle(
            cluster,
            Sample.orders(cluster, List.of(), List.of(), given, cluster.verdict(), NOW),
            NOW)
        .next();
  }

  private static Cluster until(Cluster cluster, long untilMillis, long now) {
    Capacity.Declare order =
        Sample.order(
            8, "2", cluster.version(), new JsonObject().put("until", Times.rfc3339(untilMillis)));
    return Capacity.declare(cluster, order, Sample.TERMS, now).next();
  }

  private static Cluster drilled(Cluster cluster, long now) {
    return Capacity.drill(cluster, Sample.ACTOR, Sample.TERMS, now).next();
  }

  @Test
  void aNoticeStandsAsLongAsItIsStoredAndNoOtherNodeIsTold() {
    Cluster cluster = noticed(Sample.active(2), OUTBID.reclaimAtMillis());
    assertEquals(Optional.of(OUTBID), standing(cluster, NOW));
    assertEquals(
        Optional.empty(), ProgramNotices.standing(cluster, Sample.at(cluster, 1), null, NOW));
    assertEquals(Optional.empty(), standing(Sample.active(1), NOW));
  }

  @Test
  void theEndOfADeclarationIsToldInItsLastThirdAndWithinFiveMinutesOfIt() {
    Cluster hour = until(Sample.active(1), NOW + 3_600_000, NOW);
    assertEquals(OptionalLong.of(NOW + 3_300_000), ProgramNotices.nextChangeMillis(hour, NOW));
    assertEquals(Optional.empty(), standing(hour, NOW + 3_299_999));
    NodeNotice lapse = new NodeNotice("lapsed", NOW + 3_600_000, false);
    assertEquals(Optional.of(lapse), standing(hour, NOW + 3_300_000));

    Cluster brief = until(Sample.active(1), NOW + 90_000, NOW);
    assertEquals(Optional.empty(), standing(brief, NOW + 59_999));
    assertTrue(standing(brief, NOW + 60_000).isPresent());
    Cluster renewed = until(brief, NOW + 120_000, NOW + 30_000);
    assertEquals(
        Optional.empty(), standing(renewed, NOW + 60_000), "renewed after a third, not told");
  }

  @Test
  void anEndThatWasToldIsWithdrawnOnlyIfTheDeclarationEndsAtAnotherTime() {
    Cluster cluster = until(Sample.active(1), NOW + 90_000, NOW);
    NodeNotice told = standing(cluster, NOW + 60_000).get();
    Cluster written = until(cluster, NOW + 90_000, NOW + 61_000);
    Allocation node = Sample.at(written, 0);
    assertEquals(
        Optional.of(told), ProgramNotices.standing(written, node, told, NOW + 61_000), "unchanged");
    Cluster renewed = until(cluster, NOW + 300_000, NOW + 61_000);
    assertEquals(Optional.empty(), ProgramNotices.standing(renewed, node, told, NOW + 61_000));
  }

  @Test
  void ofTwoNoticesTheEarlierStandsAndADrillYieldsToBoth() {
    Cluster cluster = until(Sample.active(1), NOW + 30_000, NOW);
    assertEquals("lapsed", standing(noticed(cluster, NOW + 60_000), NOW + 25_000).get().reason());
    assertEquals("outbid", standing(noticed(cluster, NOW + 29_000), NOW + 25_000).get().reason());
    Cluster drilled = drilled(noticed(Sample.active(2), NOW + 60_000), NOW);
    assertEquals("outbid", standing(drilled, NOW).get().reason());
    assertEquals(
        "drill", ProgramNotices.standing(drilled, Sample.at(drilled, 1), null, NOW).get().reason());
  }

  @Test
  void aDrillEndsByItselfAndConcernsNoNodeThatCameLater() {
    Cluster drilled = drilled(Sample.active(1), NOW);
    assertEquals(
        Optional.of(new NodeNotice("drill", NOW + 120_000, false)), standing(drilled, NOW));
    assertEquals(OptionalLong.of(NOW + 120_000), ProgramNotices.nextChangeMillis(drilled, NOW));
    assertEquals(Optional.empty(), standing(drilled, NOW + 120_000));
    Cluster early = drilled(Sample.active(1), T0 + 60_000);
    assertTrue(standing(early, T0 + 60_000).isPresent());
    Cluster later = Sample.provisioning(1);
    assertEquals(Optional.empty(), standing(later, NOW));
  }

  @Test
  void aReclaimingNodeIsToldNothingMore() {
    Cluster given =
        Capacity.declare(
                noticed(Sample.active(1), OUTBID.reclaimAtMillis()),
                Sample.order(0, "2", 1),
                Sample.TERMS,
                NOW)
            .next();
    assertEquals(Allocation.State.RECLAIMING, Sample.at(given, 0).state());
    assertEquals(Optional.empty(), standing(given, NOW));
  }

  @Test
  void onlyWhatAMachineWasNotToldIsDue() {
    NodeNotice later = new NodeNotice("outbid", NOW + 61_000, false);
    assertEquals(Optional.of(OUTBID), ProgramNotices.due(Optional.of(OUTBID), null));
    assertEquals(Optional.empty(), ProgramNotices.due(Optional.of(OUTBID), OUTBID));
    assertEquals(Optional.of(later), ProgramNotices.due(Optional.of(later), OUTBID));
    assertEquals(Optional.of(OUTBID.withdrawn()), ProgramNotices.due(Optional.empty(), OUTBID));
    assertEquals(Optional.empty(), ProgramNotices.due(Optional.empty(), null));
    Optional<NodeNotice> drill = Optional.of(new NodeNotice("drill", NOW + 60_000, false));
    assertEquals(Optional.of(OUTBID.withdrawn()), ProgramNotices.due(drill, OUTBID));
    assertEquals(drill, ProgramNotices.due(drill, null));
    assertEquals(Optional.empty(), ProgramNotices.due(drill, drill.get()));
    assertEquals(Optional.of(OUTBID), ProgramNotices.due(Optional.of(OUTBID), drill.get()));
  }

  private static ProgramNotices.Due next(Cluster cluster, @Nullable NodeNotice last, long now) {
    return ProgramNotices.next(cluster, Sample.at(cluster, 0), last, now).orElseThrow();
  }

  /** However late a notice of an earlier state or an earlier time arrives, a newer one stays. */
  @Test
  void sequencesRiseWithEachChangeAndWithTheTime() {
    NodeNotice earlier = new NodeNotice("drill", NOW - 1, false);
    Cluster drilled = drilled(until(Sample.active(1), NOW + 600_000, NOW - 60_000), NOW);
    ProgramNotices.Due withdrawn = next(drilled, earlier, NOW);
    ProgramNotices.Due given = next(drilled, null, NOW);
    ProgramNotices.Due over = next(drilled, given.notice(), NOW + 120_000);
    ProgramNotices.Due lapse = next(drilled, null, NOW + 599_000);
    Cluster outbid = noticed(drilled, NOW + 60_000);
    ProgramNotices.Due taken = next(Sample.revised(outbid, drilled.revision() + 1), null, NOW);
    ProgramNotices.Due lifted =
        next(Sample.revised(drilled, drilled.revision() + 2), taken.notice(), NOW + 120_000);
    List<ProgramNotices.Due> inOrder = List.of(withdrawn, given, over, lapse, taken, lifted);
    assertEquals(
        List.of("drill", "drill", "drill", "lapsed", "outbid", "outbid"),
        inOrder.stream().map(due -> due.notice().reason()).toList());
    for (int later = 1; later < inOrder.size(); later++) {
      assertTrue(
          inOrder.get(later).sequence() > inOrder.get(later - 1).sequence(), inOrder.toString());
    }
    assertTrue(lifted.sequence() < 1L << 53, "a JSON number");
    // A store that becomes shared counts in the upper half of a revision.
    Cluster shared = Sample.revised(drilled, 1L << 32 | 7);
    assertTrue(next(shared, null, NOW).sequence() > lifted.sequence());
  }
}
