package dev.bourse.nodes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.signals.Signals;
import dev.bourse.testing.Collector;
import dev.bourse.traces.TraceConfig;
import dev.bourse.traces.otlp.OtlpTraces;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The spans of calls to machines, as a collector gets them. */
class SshTracesTest extends SshNodesFixture {
  private final Collector collector = new Collector();

  @BeforeEach
  void traceNoRequestAtAll() {
    traces =
        OtlpTraces.open(
            vertx,
            new TraceConfig(collector.url(), 0),
            "1",
            Clock.systemUTC(),
            System::nanoTime,
            new SecureRandom(),
            new Signals());
    opened.add(collector);
  }

  private Collector.Told told(String name, String node) {
    return collector.await(
        name, span -> span.name().equals(name) && span.get("bourse.node").equals(node));
  }

  @Test
  void aCallIsATraceOfItsTurnAndItsVisits() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    await(nodes.reclaim(machine.machine(), "alloc_1"));
    for (String name : List.of("ssh provision", "ssh reclaim")) {
      Collector.Told call = told(name, "n1");
      assertEquals("", call.parentId());
      assertFalse(call.failed());
      Set<String> within =
          collector.within(call).stream().map(Collector.Told::name).collect(Collectors.toSet());
      assertEquals(Set.of("machine's turn", "visit"), within);
    }
  }

  @Test
  void aCallThatFailsTellsOfWhatKindAndNothingOfTheMachine() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    await(nodes.reclaim(machine.machine(), "alloc_1"));
    fails("n1", nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    Collector.Told call =
        collector.await("a call that failed", span -> span.failed() && span.parentId().isEmpty());
    assertEquals("held-by-another", call.get("error.type"));
    String text = collector.text();
    for (String secret : List.of("AAAA", "ada@example.com", "alloc_1", "127.0.0.1", "tenant")) {
      assertFalse(text.contains(secret), secret);
    }
    assertTrue(text.contains("n1"));
  }
}
