package dev.bourse.store;

import static dev.bourse.capacity.StoreFixture.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.bourse.core.ConfirmedTime;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * When corrections run: only by confirmed time, and those of whole tables only after a step back.
 */
class ClockCorrectionTest {
  private static final long MINUTE = 60_000;

  private final List<String> ran = new ArrayList<>();
  private String failing = "";
  private OptionalLong confirmed = OptionalLong.empty();
  private long monotonicMillis;

  private final ClockCorrection correction =
      new ClockCorrection(
          List.of(new Noted("first", true), new Noted("each", false), new Noted("last", true)),
          new ConfirmedTime() {
            @Override
            public OptionalLong confirmedMillis() {
              return confirmed;
            }

            @Override
            public boolean isNewest() {
              return true;
            }
          },
          () -> TimeUnit.MILLISECONDS.toNanos(monotonicMillis));

  private final class Noted implements Correction {
    private final String table;
    private final boolean isWhole;

    Noted(String table, boolean isWhole) {
      this.table = table;
      this.isWhole = isWhole;
    }

    @Override
    public String table() {
      return table;
    }

    @Override
    public boolean readsWholeTable() {
      return isWhole;
    }

    @Override
    public Future<Boolean> correct(long nowMillis) {
      ran.add(table);
      return table.equals(failing)
          ? Future.failedFuture(new IllegalStateException("made to fail"))
          : Future.succeededFuture(true);
    }
  }

  private List<String> ran() throws Exception {
    ran.clear();
    await(correction.step());
    return List.copyOf(ran);
  }

  /** Lets time pass in which the confirmed clock gains this much. */
  private void pass(long gainedMillis) {
    monotonicMillis += MINUTE;
    confirmed = OptionalLong.of(confirmed.getAsLong() + MINUTE + gainedMillis);
  }

  @Test
  void nothingRunsUntilATimeIsConfirmed() throws Exception {
    assertEquals(List.of(), ran());
    confirmed = OptionalLong.of(MINUTE);
    assertEquals(List.of("first", "each", "last"), ran());
  }

  @Test
  void wholeTablesAreReadAgainAfterAStepBackAlone() throws Exception {
    confirmed = OptionalLong.of(1_000 * MINUTE);
    ran();
    pass(0);
    assertEquals(List.of("each"), ran());
    pass(100 * MINUTE);
    assertEquals(List.of("each"), ran(), "a step ahead leaves no time ahead");
    pass(-MINUTE - 1);
    assertEquals(List.of("first", "each", "last"), ran());
    pass(0);
    assertEquals(List.of("each"), ran());
    pass(-MINUTE / 2);
    assertEquals(List.of("each"), ran(), "as much as two clocks may differ");
    pass(-MINUTE / 2 - 1);
    assertEquals(List.of("first", "each", "last"), ran(), "more, in two steps");
  }

  @Test
  void oneThatFailsKeepsNoOtherFromRunningAndIsTriedAgain() throws Exception {
    confirmed = OptionalLong.of(MINUTE);
    failing = "first";
    assertThrows(ExecutionException.class, () -> await(correction.step()));
    assertEquals(List.of("first", "each", "last"), ran);
    failing = "";
    assertEquals(List.of("first", "each", "last"), ran());
    assertEquals(List.of("each"), ran());
  }
}
