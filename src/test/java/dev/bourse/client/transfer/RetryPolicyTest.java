package dev.bourse.client.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Retries of a failing transfer. */
@Tag("fast")
class RetryPolicyTest {
  private final RefusedException lost =
      new RefusedException(ExitCode.UNAVAILABLE, "the connection is lost");

  private final RefusedException asked =
      new RefusedException(
          ExitCode.UNAVAILABLE, "ask again", 503, new JsonObject().put("retry_after_s", 5));

  private final List<Duration> waits = new ArrayList<>();
  private final CommandEnvironment environment =
      new CommandEnvironment(
          Map.of(),
          false,
          Clock.systemUTC(),
          new Random(1),
          waits::add,
          Optional::empty,
          Optional.empty());
  private final Progress progress =
      new Progress(new PrintWriter(new StringWriter()), environment, "f", 0, 100);
  private final RetryPolicy retries = new RetryPolicy(environment, progress);

  @Test
  void theWaitsGrowAndThenItIsEnough() throws RefusedException {
    for (int i = 0; i < 9; i++) {
      retries.after(lost);
    }
    assertEquals(lost, assertThrows(RefusedException.class, () -> retries.after(lost)));
    assertEquals(9, waits.size());
    for (int i = 0; i < 9; i++) {
      long whole = Math.min(30_000, 500L << i);
      assertTrue(waits.get(i).toMillis() >= whole / 2, waits::toString);
      assertTrue(waits.get(i).toMillis() <= whole, waits::toString);
    }
  }

  @Test
  void whoGetsFurtherIsGivenAllTriesAgain() throws RefusedException {
    for (int i = 1; i <= 50; i++) {
      retries.after(lost);
      retries.arrived(i);
    }
    assertEquals(50, waits.size());
  }

  @Test
  void arrivingWhereItWasIsNoProgress() throws RefusedException {
    retries.arrived(10);
    for (int i = 0; i < 9; i++) {
      retries.after(lost);
      retries.arrived(10);
    }
    assertThrows(RefusedException.class, () -> retries.after(lost));
  }

  @Test
  void whoHasSentAllWaitsForAQuarterOfAnHourWhileTheServiceAsksForTime() throws RefusedException {
    retries.allSent();
    for (int i = 0; i < 180; i++) {
      retries.after(asked);
    }
    assertEquals(Duration.ofMinutes(15), waits.stream().reduce(Duration.ZERO, Duration::plus));
    for (int i = 0; i < 9; i++) {
      retries.after(asked);
    }
    assertThrows(RefusedException.class, () -> retries.after(asked));
  }

  @Test
  void whoHasBytesToSendIsTriedNineTimesWhateverTheServiceAsksFor() throws RefusedException {
    for (int i = 0; i < 9; i++) {
      retries.after(asked);
    }
    assertThrows(RefusedException.class, () -> retries.after(asked));
  }

  @Test
  void whatIsRefusedForGoodIsNotTriedAgain() {
    RefusedException no = new RefusedException(ExitCode.REFUSED, "no");
    assertEquals(no, assertThrows(RefusedException.class, () -> retries.after(no)));
    assertEquals(List.of(), waits);
  }
}
