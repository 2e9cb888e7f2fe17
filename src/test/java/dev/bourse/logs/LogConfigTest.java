package dev.bourse.logs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.Settings;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

/** The settings of the log. */
class LogConfigTest {
  private static Settings settings(Map<String, String> given) {
    return new Settings(given, Map.of());
  }

  @Test
  void byDefaultTheLogIsTextAtInfo() {
    assertEquals(
        new LogConfig(LogFormat.TEXT, Level.INFO, 1_000), LogConfig.from(settings(Map.of())));
  }

  @Test
  void formatLevelAndSlownessAreRead() {
    assertEquals(
        new LogConfig(LogFormat.JSON, Level.DEBUG, 250),
        LogConfig.from(
            settings(
                Map.of("log.format", "json", "log.level", "debug", "log.slow-request", "250ms"))));
  }

  @Test
  void whatIsNoFormatAndNoLevelIsRefusedWithWhatIs() {
    Settings given = settings(Map.of("log.format", "xml", "log.level", "INFO"));
    LogConfig.from(given);
    assertEquals(
        List.of(
            "log.format: 'xml' is not acceptable; expected text or json",
            "log.level: 'INFO' is not acceptable; expected error, warn, info, debug or trace"),
        given.faults());
  }

  @Test
  void aLibrarysLinesBelowInfoAreNeverSaid() {
    Logs.Origin library = Logs.Origin.of("io.lettuce.core.protocol.CommandHandler");
    Logs.Origin ours = Logs.Origin.of("dev.bourse.edge.Exchange");
    assertEquals(Logs.Origin.LIBRARY, library);
    assertEquals(Logs.Origin.OURS, ours);
    assertEquals(Level.INFO, library.least(Level.TRACE));
    assertEquals(Level.TRACE, ours.least(Level.TRACE));
    assertEquals(Level.ERROR, library.least(Level.ERROR));
  }
}
