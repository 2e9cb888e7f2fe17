package dev.bourse.traces;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Trace contexts of clients. */
class TraceParentTest {
  private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  private static TraceParent said(boolean isSampled) {
    return new TraceParent("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", isSampled);
  }

  @Test
  void theTraceOfARequestIsReadAsItIsWritten() {
    assertEquals(said(true), TraceParent.of(TRACE));
    assertEquals(said(true), TraceParent.of("01" + TRACE.substring(2) + "-later"));
  }

  @Test
  void theLastFlagAloneSaysWhetherItIsSampled() {
    String unflagged = TRACE.substring(0, TRACE.length() - 2);
    assertEquals(said(false), TraceParent.of(unflagged + "00"));
    assertEquals(said(false), TraceParent.of(unflagged + "fe"));
    assertEquals(said(true), TraceParent.of(unflagged + "ff"));
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
      assertNull(TraceParent.of(sent), sent);
    }
  }
}
