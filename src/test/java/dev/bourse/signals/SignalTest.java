package dev.bourse.signals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.Scrape;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Names, reads and the text format of metrics. */
class SignalTest {
  private final Signals signals = new Signals();

  @Test
  void aNameThatBreaksTheConventionsIsRefused() {
    for (String name :
        List.of("nodes", "bourse_Nodes", "bourse_nodes_total", "bourse__x", "bourse_")) {
      assertThrows(
          IllegalArgumentException.class, () -> signals.gauge(name, "Nodes.", () -> 1), name);
    }
    assertThrows(
        IllegalArgumentException.class, () -> signals.counter("bourse_nodes", "Nodes.", () -> 1));
    assertThrows(
        IllegalArgumentException.class,
        () -> signals.gauge("bourse_nodes", "no sentence", () -> 1));
    signals.gauge("bourse_nodes", "Nodes.", () -> 1);
    assertThrows(
        IllegalArgumentException.class, () -> signals.gauge("bourse_nodes", "Twice.", () -> 1));
  }

  @Test
  void aNumberThatCannotBeReadHidesNoOther() {
    signals.gauge(
        "bourse_broken",
        "Broken.",
        () -> {
          throw new IllegalStateException("broken");
        });
    signals.gauge("bourse_unknown", "Not known now.", () -> Double.NaN);
    signals.gauge("bourse_whole", "Whole.", () -> 7);
    Scrape scrape = Scrape.of(signals);
    assertFalse(scrape.has("bourse_broken"));
    assertFalse(scrape.has("bourse_unknown"));
    assertEquals(7, scrape.sum("bourse_whole"));
    assertEquals(1, Scrape.of(signals).sum("bourse_signals_unreadable_total"));
  }

  @Test
  void aSeriesBeginsWhenSomethingHappens() {
    Signals.Tally tally = signals.tally("bourse_things_total", "Things.", List.of(Label.KIND));
    Signals.Times times =
        signals.times("bourse_thing_seconds", "Time of things.", List.of(Label.KIND), 0.1, 1);
    assertFalse(Scrape.of(signals).has("bourse_things_total"));
    assertFalse(Scrape.of(signals).has("bourse_thing_seconds_count"));
    tally.add("good");
    times.took(TimeUnit.MILLISECONDS.toNanos(500), "good");
    Scrape scrape = Scrape.of(signals);
    assertEquals(1, scrape.sum("bourse_things_total", "kind=\"good\""));
    assertEquals(0, scrape.sum("bourse_thing_seconds_bucket", "le=\"0.1\""));
    assertEquals(1, scrape.sum("bourse_thing_seconds_bucket", "le=\"1.0\""));
    assertEquals(0.5, scrape.sum("bourse_thing_seconds_sum"));
  }

  @Test
  void unitsAreToldByNames() {
    signals.gauge("bourse_log_bytes", "Bytes.", () -> 1);
    signals.counter("bourse_checked_bytes_total", "Bytes.", () -> 1);
    signals.gauge("bourse_things", "Things.", () -> 1);
    assertEquals(
        List.of("bytes", "bytes", "", ""),
        signals.all().stream()
            .sorted((a, b) -> b.unit().compareTo(a.unit()))
            .map(Signal::unit)
            .toList());
  }

  @Test
  void anEventLoopThatHangsIsToldByItsSilence() throws Exception {
    ScheduledExecutorService loop = Executors.newSingleThreadScheduledExecutor();
    CountDownLatch hanging = new CountDownLatch(1);
    try {
      loop.execute(
          () -> {
            try {
              hanging.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
      long[] nanos = {0};
      LoopSignals.registerMetrics(signals, List.of(loop), () -> nanos[0]);
      assertEquals(0, Scrape.of(signals).sum("bourse_event_loop_silent_seconds", "loop=\"0\""));
      nanos[0] = TimeUnit.SECONDS.toNanos(5);
      assertTrue(Scrape.of(signals).sum("bourse_event_loop_silent_seconds", "loop=\"0\"") > 4);
    } finally {
      hanging.countDown();
      loop.shutdownNow();
    }
  }
}
