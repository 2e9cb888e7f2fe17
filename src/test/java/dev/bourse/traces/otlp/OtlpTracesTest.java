package dev.bourse.traces.otlp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.signals.Signals;
import dev.bourse.testing.Collector;
import dev.bourse.testing.LogCapture;
import dev.bourse.testing.Polls;
import dev.bourse.testing.Scrape;
import dev.bourse.traces.Attribute;
import dev.bourse.traces.Span;
import dev.bourse.traces.TraceConfig;
import dev.bourse.traces.Traces;
import io.vertx.core.Vertx;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The export of spans under all failures of the collector. */
class OtlpTracesTest {
  /** Spans recorded before all others. */
  private static final int BEGIN = 2;

  private final Vertx vertx = Vertx.vertx();
  private final Signals signals = new Signals();

  @AfterEach
  void close() {
    vertx.close().await();
  }

  private Traces traces(String endpoint) {
    return OtlpTraces.open(
        vertx,
        new TraceConfig(endpoint, 1),
        "1",
        Clock.systemUTC(),
        System::nanoTime,
        new SecureRandom(),
        signals);
  }

  private double spans(String outcome) {
    return Scrape.of(signals).sum("bourse_trace_spans_total", "outcome=\"" + outcome + '"');
  }

  private static void make(Traces traces, int spans) {
    for (int i = 0; i < spans; i++) {
      traces.always("work", Span.Kind.INTERNAL).end();
    }
  }

  @Test
  void aStopSendsWhatWaits() throws Exception {
    try (Collector collector = new Collector()) {
      Traces traces = traces(collector.url());
      make(traces, 3);
      traces.close().await(30, TimeUnit.SECONDS);
      // A stop on a busy machine does not wait for it to the end.
      Polls.until("all are sent", () -> spans("sent") == 3 + BEGIN);
      assertEquals(3, collector.told().stream().filter(span -> span.name().equals("work")).count());
      assertEquals("bourse", collector.resources().get(0).get("service.name"));
    }
  }

  @Test
  void aChildHasTheTimesItIsTold() {
    try (Collector collector = new Collector()) {
      Traces traces = traces(collector.url());
      Span work = traces.always("work", Span.Kind.INTERNAL);
      long now = System.nanoTime();
      work.addCompletedChild("wait", now, now + 5_000_000);
      work.setAttribute(Attribute.NODE, "node-1");
      work.end(new IllegalStateException("what it says is nobody's business"));
      traces.close().await();
      Collector.Told told = collector.await("work", span -> span.name().equals("work"));
      Collector.Told wait = collector.within(told).get(0);
      assertEquals(5_000_000, wait.endedNanos() - wait.beganNanos());
      assertEquals(told.traceId(), wait.traceId());
      assertTrue(told.failed());
      assertEquals("IllegalStateException", told.get("error.type"));
      assertEquals("node-1", told.get("bourse.node"));
      assertTrue(!collector.text().contains("business"), collector.text());
    }
  }

  @Test
  void whatIsWithinASpanHasABound() {
    try (Collector collector = new Collector()) {
      Traces traces = traces(collector.url());
      Span work = traces.always("work", Span.Kind.INTERNAL);
      for (int i = 0; i < 100_000; i++) {
        work.addCompletedChild("wait", 0, 1);
      }
      assertEquals(Span.NONE, work.child("more", Span.Kind.CLIENT));
      work.end();
      traces.close().await();
      Collector.Told told = collector.await("work", span -> span.name().equals("work"));
      assertEquals(OtlpSpan.MAX_CHILDREN, collector.within(told).size());
      assertEquals(
          100_001 - OtlpSpan.MAX_CHILDREN, Integer.parseInt(told.get("bourse.waits_untold")));
    }
  }

  @Test
  void aCollectorThatIsSilentCostsNoMoreThanItsSpans() throws Exception {
    try (Collector collector = new Collector(Collector.Manner.IS_SILENT)) {
      Traces traces = traces(collector.url());
      make(traces, 10_000);
      assertEquals(10_000 + BEGIN - SpanQueue.MAX_WAITING, spans("dropped"));
      long asked = System.nanoTime();
      // Exporting the whole queue would take four times the time-out, 20 s.
      traces.close().await(60, TimeUnit.SECONDS);
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - asked);
      assertTrue(millis < 18_000, "the stop took " + millis + " ms");
      assertEquals(0, spans("sent"));
    }
  }

  @Test
  void aCollectorThatRefusesIsToldOfOnceAMinute() {
    try (LogCapture log = new LogCapture();
        Collector collector = new Collector(Collector.Manner.REFUSES)) {
      Traces traces = traces(collector.url());
      make(traces, 2_000);
      Polls.until("all were refused", () -> spans("refused") == 2_000 + BEGIN);
      assertTrue(collector.batches() > 1);
      make(traces, 10);
      Polls.until("the others, too", () -> spans("refused") == 2_010 + BEGIN);
      traces.close().await();
      List<String> said =
          log.lines().stream()
              .filter(line -> !line.getString("logger").contains("vertx"))
              .map(line -> line.getString("level") + ' ' + line.getString("message"))
              .toList();
      assertEquals(1, said.size(), said.toString());
      assertTrue(
          said.get(0).startsWith("WARN " + collector.url() + " does not accept traces: "),
          said.toString());
    }
  }

  @Test
  void aCollectorThatIsAwayIsNotWaitedFor() {
    Traces traces = traces("http://127.0.0.1:1");
    make(traces, 10);
    Polls.until("they were given up", () -> spans("refused") == 10 + BEGIN);
    traces.close().await();
  }
}
