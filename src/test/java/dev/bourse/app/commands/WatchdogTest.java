package dev.bourse.app.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.OneEngine;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process ends if one of its event loops is silent for too many rounds of the watchdog. A process
 * that is stopped as a whole runs no rounds, so it goes on when it continues.
 */
@OneEngine("nothing of it is the store's")
class WatchdogTest {
  private static final int MOST_SILENT_ROUNDS = 10;

  /** Tasks that were given to an event loop and have not run. */
  private final Queue<Runnable> given = new ArrayDeque<>();

  /** Tests run its rounds, whose duration it cannot notice. */
  private final Watchdog watchdog = new Watchdog(List.of(given::add), 1_000, () -> {});

  private void assertSilentRoundsPass() {
    for (int round = 0; round <= MOST_SILENT_ROUNDS; round++) {
      assertFalse(watchdog.findsStuckLoop(), "round " + round);
    }
  }

  @Test
  void aLoopThatIsSilentForMoreRoundsThanTheLimitIsStuck() {
    assertSilentRoundsPass();
    assertTrue(watchdog.findsStuckLoop());
  }

  @Test
  void aLoopThatTurnsInTimeIsNotStuck() {
    for (int turn = 0; turn < 5; turn++) {
      assertSilentRoundsPass();
      given.remove().run();
    }
  }

  @Test
  void aProcessWithALoopThatDoesNotTurnEndsWithACodeOfItsOwnAndOneLine(@TempDir Path folder)
      throws Exception {
    Path log = folder.resolve("log");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                StuckProcess.class.getName())
            .redirectError(log.toFile())
            .start();
    try {
      assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    } finally {
      process.destroyForcibly();
    }
    assertEquals(70, process.exitValue());
    List<String> lines =
        Files.readAllLines(log).stream()
            .filter(line -> line.contains("event-loop-timeout"))
            .toList();
    assertEquals(1, lines.size(), Files.readString(log));
  }

  /** Watches itself like the service, and blocks a loop for ever. */
  static final class StuckProcess {
    public static void main(String[] arguments) throws InterruptedException {
      Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
      ServeCommand.watch(vertx, 100);
      CountDownLatch never = new CountDownLatch(1);
      vertx.runOnContext(
          turn -> {
            try {
              never.await();
            } catch (InterruptedException ended) {
              Thread.currentThread().interrupt();
            }
          });
      never.await();
    }
  }
}
