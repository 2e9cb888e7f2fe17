package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.MarketTransitions;
import dev.bourse.capacity.NoticeOrders;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.Standing;
import dev.bourse.capacity.Verdict;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The ends of notices when the clock is set during them. */
@Tag("fast")
class NoticeClockTest {
  private static final long NOTICE = 120_000;
  private static final long HOUR = 3_600_000;
  private static final long GIVEN = Sample.T0;

  private final AtomicLong monotonicMillis = new AtomicLong(77);
  private final NoticeClock clock =
      new NoticeClock(() -> TimeUnit.MILLISECONDS.toNanos(monotonicMillis.get()));

  @Test
  void itIsOverWhenTheWallClockSaysSo() {
    Cluster told = told(GIVEN + NOTICE);

    assertEquals(Set.of(), over(told, GIVEN));
    monotonicMillis.addAndGet(NOTICE - 1);
    assertEquals(Set.of(), over(told, GIVEN + NOTICE - 1));
    monotonicMillis.addAndGet(1);
    assertEquals(Set.of("a0"), over(told, GIVEN + NOTICE));
  }

  @Test
  void aClockThatIsCorrectedALittleAtATimeIsBelieved() {
    Cluster told = told(GIVEN + NOTICE);
    over(told, GIVEN);
    monotonicMillis.addAndGet(NOTICE - 900);

    assertEquals(Set.of("a0"), over(told, GIVEN + NOTICE));
  }

  @Test
  void aClockSetAheadCutsNoNoticeShort() {
    Cluster told = told(GIVEN + NOTICE);
    over(told, GIVEN);
    monotonicMillis.addAndGet(10_000);

    assertEquals(Set.of(), over(told, GIVEN + HOUR));
    monotonicMillis.addAndGet(NOTICE - 10_000);
    assertEquals(Set.of("a0"), over(told, GIVEN + HOUR + NOTICE));
  }

  @Test
  void oneSetAheadBetweenATickThatGivesNoticeAndTheNextDoesNotEither() {
    Allocation.Notice notice = new Allocation.Notice(Allocation.Reason.OUTBID, GIVEN + NOTICE);
    clock.recordGiven(
        List.of(
            new Tick.ClusterDecision(
                new Standing.Gate(200, GIVEN, GIVEN),
                1,
                100L,
                0,
                1,
                List.of(),
                Set.of("a0"),
                List.of(),
                new NoticeOrders(Map.of("a0", notice), List.of(), List.of()),
                Verdict.NONE,
                Optional.empty(),
                false)),
        GIVEN);
    monotonicMillis.addAndGet(10_000);

    assertEquals(Set.of(), over(told(GIVEN + NOTICE), GIVEN + HOUR));
  }

  @Test
  void aClockSetBackEndsNoneBeforeItsHolderWasTold() {
    Cluster told = told(GIVEN + NOTICE);
    over(told, GIVEN);
    monotonicMillis.addAndGet(NOTICE);

    assertEquals(Set.of(), over(told, GIVEN + NOTICE - HOUR));
    assertEquals(Set.of("a0"), over(told, GIVEN + NOTICE));
  }

  @Test
  void whoTakesTheMarketOverGoesByTheTimeThatWasTold() {
    assertEquals(Set.of("a0"), over(told(GIVEN + NOTICE), GIVEN + NOTICE));
  }

  @Test
  void aSecondNoticeOfTheSameNodeIsTimedAnew() {
    over(told(GIVEN + NOTICE), GIVEN);
    monotonicMillis.addAndGet(HOUR);
    Cluster again = told(GIVEN + HOUR + NOTICE);

    assertEquals(Set.of(), over(again, GIVEN + HOUR));
    assertEquals(Set.of(), over(again, GIVEN + 2 * HOUR), "the clock was set ahead");
  }

  @Test
  void aWithdrawnNoticeIsTimedAsBefore() {
    Cluster told = told(GIVEN + NOTICE);
    over(told, GIVEN);
    monotonicMillis.addAndGet(10_000);
    Cluster withdrawn =
        MarketTransitions.settle(
                told,
                Sample.orders(
                    told,
                    List.of(),
                    List.of(),
                    new NoticeOrders(Map.of(), List.of("a0"), List.of()),
                    told.verdict(),
                    GIVEN + 10_000),
                GIVEN + 10_000)
            .next();

    assertEquals(Set.of(), over(withdrawn, GIVEN + HOUR), "the clock was set ahead");
    monotonicMillis.addAndGet(NOTICE);
    assertEquals(Set.of("a0"), over(withdrawn, GIVEN + HOUR));
  }

  private Set<String> over(Cluster cluster, long wallMillis) {
    return clock.over(Sample.views(cluster), wallMillis);
  }

  /** Returns a cluster whose node is under notice until a time. */
  private static Cluster told(long endsAt) {
    Cluster cluster = Sample.active(1);
    return MarketTransitions.settle(
            cluster,
            Sample.orders(
                cluster,
                List.of(),
                List.of(),
                new NoticeOrders(
                    Map.of("a0", new Allocation.Notice(Allocation.Reason.OUTBID, endsAt)),
                    List.of(),
                    List.of()),
                cluster.verdict(),
                GIVEN),
            GIVEN)
        .next();
  }
}
