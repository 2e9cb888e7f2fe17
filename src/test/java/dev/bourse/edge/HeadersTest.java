package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** What is read of headers besides parameters. */
class HeadersTest {
  private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  @Test
  void theTraceOfARequestIsReadAsItIsWritten() {
    assertEquals(TRACE.substring(3, 35), Headers.traceId(TRACE));
    assertEquals(TRACE.substring(3, 35), Headers.traceId("01" + TRACE.substring(2) + "-later"));
  }

  @Test
  void whatIsNoTraceIsNone() {
    for (String sent :
        List.of(
            "",
            "x",
            TRACE.toUpperCase(Locale.ROOT),
            TRACE + "-00",
            TRACE + "\n",
            "ff" + TRACE.substring(2),
            "00-" + "0".repeat(32) + TRACE.substring(35),
            TRACE.substring(0, 36) + "0".repeat(16) + "-01")) {
      assertEquals("", Headers.traceId(sent), sent);
    }
  }
}
