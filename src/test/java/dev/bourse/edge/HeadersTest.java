package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** What is read of headers besides parameters. */
class HeadersTest {
  private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  @Test
  void aLineOfTheLogHasTheIdsByWhichTheClientKnowsTheRequest() {
    assertEquals("", Headers.clientIds(null, null));
    assertEquals(
        ", client's request 7f3a:9.b_c-d, trace " + TRACE,
        Headers.clientIds("7f3a:9.b_c-d", TRACE));
  }

  @Test
  void whatIsNoIdIsNotWrittenIntoTheLog() {
    for (String sent : List.of("", "a b", "a\nb", "\u001b[31m", "x".repeat(129), "a;b")) {
      assertEquals("", Headers.clientIds(sent, null), sent);
    }
    for (String trace : List.of("", TRACE.toUpperCase(Locale.ROOT), TRACE + "-00", "x")) {
      assertEquals("", Headers.clientIds(null, trace), trace);
    }
  }
}
