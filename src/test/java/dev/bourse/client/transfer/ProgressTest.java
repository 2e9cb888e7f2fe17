package dev.bourse.client.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Sizes;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The progress that is shown during a transfer. */
class ProgressTest {
  private static final long MIB = 1 << 20;

  private final StringWriter output = new StringWriter();
  private long now;

  private final Clock clock =
      ((InstantSource) () -> Instant.ofEpochMilli(now)).withZone(ZoneOffset.UTC);

  private Progress progress(boolean hasTerminal, long total) {
    CommandEnvironment environment =
        new CommandEnvironment(
            Map.of(),
            hasTerminal,
            clock,
            new Random(1),
            over -> {},
            Optional::empty,
            Optional.empty());
    return new Progress(new PrintWriter(output), environment, "model.bin", 0, total);
  }

  /** Simulates a second, drawn every 10 ms, in which this many bytes are transferred. */
  private void second(Progress progress, long bytes) {
    long start = progress.bytes();
    for (int i = 1; i <= 100; i++) {
      now += 10;
      progress.at(start + bytes * i / 100);
      progress.draw();
    }
  }

  @Test
  void aTerminalSeesABarDrawnTenTimesASecondAtMost() {
    try (Progress progress = progress(true, 100 * MIB)) {
      second(progress, 10 * MIB);
      second(progress, 10 * MIB);
    }
    String[] drawn = output.toString().split("\r\u001b\\[K", -1);
    // Twenty times, with the text before the first and after the last.
    assertEquals(22, drawn.length);
    assertEquals("model.bin  20 % [##----------] 20.0 of 100 MiB 10.0 MiB/s ETA 0:08", drawn[20]);
    assertEquals("", drawn[21], "nothing of it stays");
  }

  @Test
  void elsewhereThereIsALineEveryTenSecondsAndNoControlCharacter() {
    try (Progress progress = progress(false, 100 * MIB)) {
      for (int i = 0; i < 25; i++) {
        second(progress, MIB);
      }
    }
    assertEquals(
        """
        model.bin: 10 %, 10.0 of 100 MiB, 1.0 MiB/s, ETA 1:30
        model.bin: 20 %, 20.0 of 100 MiB, 1.0 MiB/s, ETA 1:20
        """,
        output.toString());
  }

  @Test
  void aBarFitsALineWhateverTheFigures() {
    TransferRate slow = new TransferRate(0, 0);
    slow.at(1_000, 999);
    TransferRate fast = new TransferRate(0, 0);
    fast.at(1_000, 999 * MIB / 1_000);
    for (TransferRate meter : new TransferRate[] {slow, fast}) {
      for (long total = 1; total < 1L << 50; total = total * 7 / 2 + 1) {
        String line =
            Progress.bar("a-rather-long-name-of-a-model", total - total / 9, total, meter);
        assertTrue(line.length() <= 79, line.length() + ": " + line);
      }
    }
    String bar =
        Progress.bar("a-rather-long-name-of-a-model.safetensors", 1L << 39, 1L << 40, slow);
    assertTrue(bar.startsWith("a-rather-long-… "), bar);
  }

  @Test
  void aNameCannotSteerTheTerminal() {
    try (Progress progress = progress(true, MIB)) {
      progress.say("x");
    }
    Progress named =
        new Progress(
            new PrintWriter(output),
            new CommandEnvironment(
                Map.of(),
                false,
                clock,
                new Random(1),
                over -> {},
                Optional::empty,
                Optional.empty()),
            "evil\u001b[2J",
            0,
            1);
    now += 20_000;
    named.draw();
    assertFalse(output.toString().contains("\u001b"), output.toString());
  }

  @Test
  void whatStoodStillIsNoticed() {
    try (Progress progress = progress(false, MIB)) {
      second(progress, 1_000);
      now += 61_000;
      progress.draw();
      assertTrue(progress.stillness().compareTo(Duration.ofSeconds(60)) > 0);
      progress.at(2_000);
      progress.draw();
      assertEquals(Duration.ZERO, progress.stillness());
    }
  }

  @Test
  void theRateIsThatOfTheLastSeconds() {
    TransferRate meter = new TransferRate(0, 50 * MIB);
    assertEquals(OptionalLong.empty(), meter.secondsTo(100 * MIB));
    for (int i = 1; i <= 100; i++) {
      meter.at(i * 100L, 50 * MIB + i * MIB / 10);
    }
    assertEquals("1.0 MiB", Sizes.bytes(meter.bytesPerSecond()));
    assertEquals(OptionalLong.of(40), meter.secondsTo(100 * MIB));
    for (int i = 1; i <= 600; i++) {
      meter.at(10_000 + i * 100L, 60 * MIB);
    }
    assertTrue(meter.bytesPerSecond() < 100, "what stands still has no rate");
  }

  @Test
  void figuresAreReadable() {
    assertEquals("999 bytes", Sizes.bytes(999));
    assertEquals("1.5 KiB", Sizes.bytes(1_536));
    assertEquals("1.0 MiB", Sizes.bytes(MIB - 1));
    assertEquals("640 MiB", Sizes.bytes(640 * MIB));
    assertEquals("0.5 of 1.0 GiB", Sizes.part(512 * MIB, 1_024 * MIB));
    assertEquals("0:07", Sizes.time(7));
    assertEquals("12:30", Sizes.time(750));
    assertEquals("3:05:00", Sizes.time(11_100));
  }
}
