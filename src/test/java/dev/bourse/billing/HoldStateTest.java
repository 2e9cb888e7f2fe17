package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.bourse.billing.HoldState.Reason;
import dev.bourse.billing.HoldState.Shortfall;
import dev.bourse.billing.HoldState.Stage;
import dev.bourse.capacity.Hold;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Transitions of a hold. */
@Tag("fast")
class HoldStateTest {
  private static final long GRACE = 100;
  private static final long NOTICE = 1_000;
  private static final Shortfall FINE = new Shortfall(false, false, true, true);
  private static final Shortfall BROKE = new Shortfall(true, false, true, true);
  private static final Shortfall OVER = new Shortfall(false, true, true, true);

  private static HoldState next(HoldState state, Shortfall shortfall, long now) {
    return state.next(shortfall, GRACE, NOTICE, now);
  }

  private static HoldState grace() {
    return next(HoldState.NONE, BROKE, 10);
  }

  private static HoldState notice() {
    return next(grace(), BROKE, 10 + GRACE);
  }

  private static HoldState enforce() {
    return next(notice(), BROKE, 10 + GRACE + NOTICE);
  }

  @Test
  void aShortfallBeginsWithGrace() {
    assertEquals(new HoldState(Stage.GRACE, Reason.BALANCE, 10, true), grace());
    assertEquals(new Hold(Hold.Stage.GRACE, "balance", null), grace().clusterHold(NOTICE));
  }

  @Test
  void graceBecomesNoticeAndNoticeEnforce() {
    assertSame(Stage.GRACE, next(grace(), BROKE, 9 + GRACE).stage());
    assertEquals(new HoldState(Stage.NOTICE, Reason.BALANCE, 110, true), notice());
    assertEquals(new Hold(Hold.Stage.NOTICE, "balance", 1_110L), notice().clusterHold(NOTICE));
    assertSame(Stage.NOTICE, next(notice(), BROKE, 109 + NOTICE).stage());
    assertEquals(new HoldState(Stage.ENFORCE, Reason.BALANCE, 1_110, true), enforce());
    assertEquals(new Hold(Hold.Stage.ENFORCE, "balance", 1_110L), enforce().clusterHold(NOTICE));
    assertEquals(enforce(), next(enforce(), BROKE, 99_999));
  }

  @Test
  void itIsLiftedFromAnyStage() {
    for (HoldState held : new HoldState[] {grace(), notice(), enforce()}) {
      assertEquals(new HoldState(Stage.NONE, null, 5_000, false), next(held, FINE, 5_000));
      assertNull(next(held, FINE, 5_000).clusterHold(NOTICE));
    }
    assertSame(HoldState.NONE, next(HoldState.NONE, FINE, 3));
  }

  @Test
  void whoWasAwayForDaysStillGivesTheWholeNotice() {
    HoldState late = next(grace(), BROKE, 50_000);

    assertEquals(new HoldState(Stage.NOTICE, Reason.BALANCE, 50_000, true), late);
  }

  @Test
  void whoLacksSomethingElseStaysUnderTheHold() {
    Shortfall both = new Shortfall(true, true, true, true);
    assertEquals(notice(), next(notice(), both, 120), "under the name it has");
    HoldState renamed = next(notice(), OVER, 120);
    assertEquals(new HoldState(Stage.NOTICE, Reason.SPEND_LIMIT, 110, true), renamed);
    assertEquals(
        new HoldState(Stage.ENFORCE, Reason.SPEND_LIMIT, 1_110, true), next(renamed, OVER, 1_110));
    assertSame(Stage.NONE, next(renamed, FINE, 130).stage());
  }

  @Test
  void whatIsNotActedUponIsRecordedAndGoesNoFurther() {
    Shortfall recorded = new Shortfall(true, false, false, true);
    HoldState seen = next(HoldState.NONE, recorded, 10);

    assertEquals(new HoldState(Stage.GRACE, Reason.BALANCE, 10, false), seen);
    assertNull(seen.clusterHold(NOTICE));
    assertEquals(seen, next(seen, recorded, 1_000_000));
    assertEquals(new HoldState(Stage.GRACE, Reason.BALANCE, 77, true), next(seen, BROKE, 77));
  }

  @Test
  void switchingItOffTakesTheHoldBackToWhatIsRecorded() {
    Shortfall recorded = new Shortfall(true, false, false, true);

    assertEquals(
        new HoldState(Stage.GRACE, Reason.BALANCE, 5_000, false), next(enforce(), recorded, 5_000));
  }

  @Test
  void aCauseThatIsActedUponGoesBeforeOneThatIsNot() {
    Shortfall both = new Shortfall(true, true, false, true);
    HoldState seen = next(HoldState.NONE, new Shortfall(true, false, false, true), 10);

    assertEquals(new HoldState(Stage.GRACE, Reason.SPEND_LIMIT, 20, true), next(seen, both, 20));
  }

  @Test
  void aStageEnteredByAClockThatWasAheadLastsItsTimeFromNowOn() {
    long days = 3 * 86_400_000L;
    HoldState ahead = next(grace(), BROKE, days);
    HoldState put = next(ahead, BROKE, 500);

    assertEquals(new HoldState(Stage.NOTICE, Reason.BALANCE, 500, true), put);
    assertSame(Stage.ENFORCE, next(put, BROKE, 500 + NOTICE).stage());
    assertSame(ahead, next(ahead, BROKE, days - 50_000), "clocks that differ a little");
  }
}
