package dev.bourse.app.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The notifications to systemd and their times; a script writes them to a file. {@code
 * scripts/smoke packages} tests with a real systemd.
 */
class ServiceManagerTest {
  private static final long PROCESS = 4711;
  private static final long DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(60);

  @TempDir private Path folder = Path.of("");

  @Test
  void aReadyServiceSaysSoAndThenThatItLives() throws Exception {
    ServiceManager manager =
        manager(Map.of("NOTIFY_SOCKET", "@", "WATCHDOG_USEC", "400000", "WATCHDOG_PID", "4711"));
    manager.ready();
    assertEquals(
        List.of("READY=1", "WATCHDOG=1", "WATCHDOG=1"), said(lines -> lines.size() >= 3, 3));
    manager.stopping(1);
    // A sign of life that was due may come after it.
    said(lines -> lines.stream().anyMatch(line -> line.startsWith("STOPPING=1")), 1);
  }

  @Test
  void aStopSaysHowLongItMayTake() throws Exception {
    manager(Map.of("NOTIFY_SOCKET", "@")).stopping(32);
    assertEquals(List.of("STOPPING=1 EXTEND_TIMEOUT_USEC=32000000"), said(lines -> true, 1));
  }

  @Test
  void aWatchdogOfAnotherProcessIsNotServed() throws Exception {
    ServiceManager manager =
        manager(Map.of("NOTIFY_SOCKET", "@", "WATCHDOG_USEC", "400000", "WATCHDOG_PID", "4712"));
    manager.ready();
    manager.stopping(1);
    assertEquals(
        List.of("READY=1", "STOPPING=1 EXTEND_TIMEOUT_USEC=1000000"),
        said(lines -> lines.size() >= 2, 3));
  }

  @Test
  void nobodyIsToldWhereNobodyListens() throws Exception {
    ServiceManager silent = manager(Map.of("WATCHDOG_USEC", "400000"));
    silent.ready();
    silent.stopping(1);
    ServiceManager heard = manager(Map.of("NOTIFY_SOCKET", "@"));
    heard.ready();
    assertEquals(List.of("READY=1"), said(lines -> true, 2));
  }

  @Test
  void aProgramThatIsMissingHoldsNothingUp() throws Exception {
    ServiceManager manager =
        new ServiceManager(
            Map.of("NOTIFY_SOCKET", "@"),
            PROCESS,
            List.of(folder.resolve("no-such-program").toString()));
    long began = System.nanoTime();
    manager.ready();
    manager.stopping(1);
    assertTrue(System.nanoTime() - began < DEADLINE_NANOS);
    assertFalse(Files.exists(notes()));
  }

  /** A manager that notifies through a script, which writes a line for each notification. */
  private ServiceManager manager(Map<String, String> environment) throws IOException {
    Path notes = notes();
    if (!Files.exists(notes)) {
      Files.createFile(notes);
    }
    // Never creates the file: a sign of life may come while the folder is being deleted.
    String note = "[ ! -e '" + notes + "' ] || echo \"$*\" >>'" + notes + "'";
    return new ServiceManager(environment, PROCESS, List.of("/bin/sh", "-c", note, "notify"));
  }

  private Path notes() {
    return folder.resolve("notes");
  }

  /** The first lines, once there are enough. */
  private List<String> said(Predicate<List<String>> isEnough, int most)
      throws IOException, InterruptedException {
    long began = System.nanoTime();
    List<String> lines = List.of();
    while (lines.isEmpty() || !isEnough.test(lines)) {
      assertTrue(System.nanoTime() - began < DEADLINE_NANOS, "only " + lines);
      TimeUnit.MILLISECONDS.sleep(10);
      lines = Files.exists(notes()) ? Files.readAllLines(notes()) : List.of();
    }
    return lines.subList(0, Math.min(most, lines.size()));
  }
}
