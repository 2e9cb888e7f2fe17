package dev.bourse.traces;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.Settings;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The settings of traces. */
class TraceConfigTest {
  private static final String ENDPOINT = "http://collector.example:4318";

  private static Settings settings(Map<String, String> given) {
    return new Settings(given, Map.of());
  }

  @Test
  void byDefaultNothingIsTraced() {
    assertEquals(Optional.empty(), TraceConfig.from(settings(Map.of())));
  }

  @Test
  void withAnEndpointOneRequestInAHundredIs() {
    assertEquals(
        Optional.of(new TraceConfig(ENDPOINT, 0.01)),
        TraceConfig.from(settings(Map.of("trace.endpoint", ENDPOINT))));
  }

  @Test
  void whatIsNoAddressAndNoShareIsRefusedWithWhatIs() {
    Settings given =
        settings(Map.of("trace.endpoint", ENDPOINT + "/v1/traces", "trace.sample", "1%"));
    TraceConfig.from(given);
    assertEquals(
        List.of(
            "trace.sample: '1%' is not acceptable; expected a number from 0 to 1",
            "trace.endpoint: '"
                + ENDPOINT
                + "/v1/traces' is not acceptable; expected http(s)://host[:port], with no slash or"
                + " path after it"),
        given.faults());
  }

  @Test
  void anAddressWithAPasswordIsRefused() {
    Settings given = settings(Map.of("trace.endpoint", "http://user:word@collector.example"));
    TraceConfig.from(given);
    assertEquals(1, given.faults().size());
  }
}
