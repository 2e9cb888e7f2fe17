package dev.bourse.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.nodes.Health;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Future times of a cluster, left by a clock that was ahead, become the present. */
@Tag("fast")
class FutureTimesTest {
  private static final long DAYS = 3 * 86_400_000L;
  private static final long NOW = Sample.T0;

  /**
   * Returns a cluster with times of a clock three days ahead: two active nodes, one with a swap.
   */
  private static Cluster left() {
    Cluster cluster = Sample.active(2);
    Cluster.Draft draft = cluster.draft();
    for (Allocation a : cluster.allocations()) {
      draft.put(
          a.with(
              at -> {
                at.grantedAtMillis = NOW + DAYS;
                at.activeAtMillis = NOW + DAYS;
                at.protectedUntilMillis = NOW + DAYS + Sample.PROTECTION;
                at.swapRequestedAtMillis = NOW + DAYS;
                at.health = new HeldHealth(Health.State.OK, NOW + DAYS, List.of(), false);
              }));
    }
    draft.lastWriteAtMillis = NOW + DAYS;
    draft.declared = Declaration.of(16, 300, NOW + DAYS, "token:x");
    draft.gangUnwoundAtMillis = NOW + DAYS;
    draft.drill = new Drill(NOW + DAYS);
    return draft.build();
  }

  private static FutureTimes at(long now, boolean isNewest) {
    return new FutureTimes(now, Sample.PROTECTION, isNewest);
  }

  private static Cluster corrected(FutureTimes times, Cluster cluster) {
    return times.correction().apply(cluster, NOW).next();
  }

  @Test
  void nothingOfAClusterWhoseTimesHavePassedIsTouched() {
    Cluster cluster = Sample.active(2);
    assertFalse(at(NOW, true).areIn(cluster));
    assertTrue(at(NOW, true).correction().apply(cluster, NOW).changesNothing());
  }

  @Test
  void clocksThatDifferALittleChangeNothing() {
    Cluster cluster = corrected(at(NOW, true), left());
    assertFalse(at(NOW - 50_000, true).areIn(cluster));
    assertTrue(at(NOW - 70_000, true).areIn(cluster));
  }

  @Test
  void everyTimeThatLiesAheadBecomesThePresentAndProtectionLastsItsWindow() {
    Cluster put = corrected(at(NOW, true), left());

    for (Allocation a : put.allocations()) {
      assertEquals(NOW, a.grantedAtMillis());
      assertEquals(NOW, a.activeAtMillis());
      assertEquals(NOW + Sample.PROTECTION, a.protectedUntilMillis());
      assertEquals(NOW, a.swapRequestedAtMillis());
      assertFalse(a.isShielded(NOW + Sample.PROTECTION, 1_000));
    }
    assertEquals(NOW, put.writes().lastAtMillis());
    assertNull(put.drill());
    assertEquals(NOW, Objects.requireNonNull(put.declared()).pricedAtMillis());
    assertEquals(
        NOW, put.setbacks().gangUnwoundAtMillis(), "else it would stand back when that comes");
    assertEquals(left().version(), put.version());
    assertFalse(at(NOW, true).areIn(put), "a second correction changes nothing");
  }

  @Test
  void aCeilingWaitsForTheNextTickAsLongAsBefore() {
    long tick = CapacityConfig.LONGEST_TICK_MILLIS;
    Cluster waiting = priced(NOW, NOW + tick);
    assertFalse(at(NOW, true).areIn(waiting), "the next tick may be an hour away");

    assertEquals(NOW + tick, effective(priced(NOW + DAYS, NOW + DAYS + tick)));
    assertEquals(NOW, effective(priced(NOW + 2 * DAYS, NOW + DAYS)), "an earlier one set it");
    assertEquals(NOW - tick, effective(priced(NOW + DAYS, NOW - tick)), "past already");
    assertEquals(NOW + tick, effective(priced(NOW, NOW + DAYS)), "no longer than any tick");
  }

  private static Cluster priced(long pricedAt, long effectiveAt) {
    Cluster.Draft draft = Sample.active(2).draft();
    draft.declared =
        Declaration.of(16, 300, NOW, "token:x")
            .with(d -> d.ceiling = new Declaration.Ceiling(300, pricedAt, effectiveAt));
    return draft.build();
  }

  private static Long effective(Cluster cluster) {
    Cluster put = at(NOW, true).correction().apply(cluster, NOW).next();
    assertFalse(at(NOW, true).areIn(put), "a second correction changes nothing");
    return Objects.requireNonNull(Objects.requireNonNull(put.declared()).effectiveAtMillis());
  }

  @Test
  void aNodeIsNotBilledForLongerByATimeThatIsBeforeOneConfirmedEarlier() {
    Cluster put = corrected(at(NOW, false), left());

    assertEquals(
        List.of(NOW + DAYS, NOW + DAYS),
        put.allocations().stream().map(Allocation::activeAtMillis).toList());
    assertEquals(NOW + Sample.PROTECTION, put.allocations().get(0).protectedUntilMillis());
  }

  @Test
  void aNoticeRunsNoLongerThanTheLongestThereIsAndIsNeverCutShort() {
    long longest = Allocation.Notice.LONGEST_MILLIS;

    assertEquals(NOW + longest, noticeEnds(NOW + DAYS));
    assertEquals(NOW + longest, noticeEnds(NOW + longest));
    assertEquals(NOW + 1_000, noticeEnds(NOW + 1_000));
    assertEquals(NOW - DAYS, noticeEnds(NOW - DAYS));
  }

  @Test
  void aWithdrawnNoticeThatLiesAheadEndsNoLaterThanTheLongestThereIs() {
    Cluster.Draft draft = Sample.active(1).draft();
    draft.put(
        Sample.active(1).allocations().get(0).with(a -> a.withdrawnNoticeEndMillis = NOW + DAYS));

    Cluster put = corrected(at(NOW, true), draft.build());
    assertEquals(
        NOW + Allocation.Notice.LONGEST_MILLIS,
        put.allocations().get(0).departure().withdrawnNoticeEndMillis());
  }

  @Test
  void aMinimumThatWasGivenUpAheadOfTimeIsFoundThoughNothingElseLiesAhead() {
    Cluster cluster = Sample.active(1);
    Cluster.Draft draft = cluster.draft();
    draft.gangUnwoundAtMillis = NOW + DAYS;

    assertTrue(at(NOW, true).areIn(draft.build()));
    assertEquals(NOW, corrected(at(NOW, true), draft.build()).setbacks().gangUnwoundAtMillis());
  }

  /** Returns the corrected end of a notice. */
  private static long noticeEnds(long endsAt) {
    Cluster cluster = Sample.active(1);
    Cluster.Draft draft = cluster.draft();
    draft.put(
        cluster
            .allocations()
            .get(0)
            .withNotice(new Allocation.Notice(Allocation.Reason.OUTBID, endsAt)));
    Cluster put = corrected(at(NOW, true), draft.build());
    return Objects.requireNonNull(put.allocations().get(0).notice()).endsAtMillis();
  }

  @Test
  void aReclaimThatLiesAheadHasBegunByNow() {
    Cluster cluster = left();
    Cluster.Draft draft = cluster.draft();
    draft.put(cluster.allocations().get(0).startReclaim(Allocation.Reason.OUTBID, NOW + DAYS));
    Cluster put = corrected(at(NOW, true), draft.build());

    Allocation.Reclaim reclaim =
        Objects.requireNonNull(
            put.find(cluster.allocations().get(0).allocationId()).orElseThrow().reclaim());
    assertEquals(NOW, reclaim.atMillis());
  }
}
