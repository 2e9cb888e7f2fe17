package dev.bourse.logs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

/** The format of lines. */
class LogFormatTest {
  private static final Instant NOW = Instant.parse("2026-11-26T03:00:01.250Z");
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

  /** Input of an attacker who tries to forge lines. */
  private static final List<String> FORGERIES =
      List.of(
          "curl\n2026-11-26T03:00:02.000Z ERROR Main - the store is lost",
          "a\r\nb",
          "a\u2028b\u2029c\u0085d",
          "\u001b[2J\u001b[31mred",
          "\u202egnp.exe",
          "\"}\n{\"level\":\"ERROR\"",
          "\ud800 alone, \udc00 too",
          "\u0000\b\f\t\u007f");

  private static LogLine line(
      String message, @Nullable Throwable error, @Nullable RequestContext request) {
    return new LogLine(
        NOW, Level.WARN, "dev.bourse.edge.Exchange", "loop-1", message, error, request);
  }

  private static RequestContext request() {
    RequestContext request = new RequestContext("r-1", TRACE, () -> 0);
    request.setOrg("acme");
    request.setOperation("declareCapacity");
    return request;
  }

  private static JsonObject json(LogLine line) {
    return new JsonObject(LogFormat.JSON.line(line));
  }

  @Test
  void aLineOfTextHasTimeLevelWhoAndWhat() {
    String line = LogFormat.TEXT.line(line("it broke", null, null));
    assertTrue(
        line.matches("2026-11-2\\dT\\d\\d:\\d\\d:01\\.250\\S+ WARN Exchange - it broke\n"), line);
  }

  @Test
  void aLineOfTextNamesItsRequest() {
    String line = LogFormat.TEXT.line(line("it broke", null, request()));
    assertTrue(
        line.contains(
            " WARN Exchange request_id=r-1 trace_id="
                + TRACE
                + " org=acme operation=declareCapacity - it broke\n"),
        line);
  }

  @Test
  void aLineOfJsonIsAnObject() {
    JsonObject line = json(line("it broke", null, request()));
    assertEquals(
        new JsonObject()
            .put("time", "2026-11-26T03:00:01.250Z")
            .put("level", "WARN")
            .put("logger", "dev.bourse.edge.Exchange")
            .put("thread", "loop-1")
            .put("request_id", "r-1")
            .put("trace_id", TRACE)
            .put("org", "acme")
            .put("operation", "declareCapacity")
            .put("message", "it broke"),
        line);
  }

  @Test
  void whatIsNotKnownOfARequestIsLeftOut() {
    JsonObject line = json(line("it broke", null, new RequestContext("r-2", "", () -> 0)));
    assertEquals("r-2", line.getString("request_id"));
    assertFalse(line.containsKey("trace_id") || line.containsKey("org"), line.encode());
  }

  @Test
  void nobodyForgesALineOfText() {
    for (String forged : FORGERIES) {
      String line = LogFormat.TEXT.line(line(forged, new IllegalStateException(forged), null));
      assertEquals(line.length() - 1, line.indexOf('\n'), line);
      assertTrue(
          line.strip().codePoints().noneMatch(c -> Character.isISOControl(c) || c == 0x202e), line);
    }
  }

  @Test
  void nobodyForgesALineOfJson() {
    for (String forged : FORGERIES) {
      String line = LogFormat.JSON.line(line(forged, new IllegalStateException(forged), null));
      assertEquals(line.length() - 1, line.indexOf('\n'), line);
      JsonObject read = new JsonObject(line);
      assertEquals("WARN", read.getString("level"));
      assertEquals(forged, read.getString("message"));
    }
  }

  @Test
  void anErrorIsToldWithItsCauses() {
    Throwable cause = new IllegalArgumentException("why");
    String told =
        json(line("it broke", new IllegalStateException("what", cause), null)).getString("error");
    assertTrue(told.startsWith("java.lang.IllegalStateException: what\nat dev.bourse.logs."), told);
    assertTrue(told.contains("\ncaused by java.lang.IllegalArgumentException: why\nat "), told);
    String text = LogFormat.TEXT.line(line("it broke", cause, null));
    assertTrue(text.contains("it broke | java.lang.IllegalArgumentException: why | at "), text);
  }

  @Test
  void errorsThatCauseEachOtherEnd() {
    IllegalStateException first = new IllegalStateException("first");
    IllegalStateException second = new IllegalStateException("second", first);
    first.initCause(second);
    assertTrue(ErrorText.of(first, "\n").endsWith("\ncaused by more"));
  }

  @Test
  void anErrorWhoseMessageCannotBeMadeIsStillTold() {
    Throwable broken =
        new RuntimeException() {
          private static final long serialVersionUID = 1;

          @Override
          public String getMessage() {
            throw new IllegalStateException("no words");
          }
        };
    assertTrue(ErrorText.of(broken, "\n").startsWith(getClass().getName()));
  }

  @Test
  void aLineIsShorterThanWhatContainerRuntimesCut() {
    Throwable error = new IllegalStateException("y".repeat(100_000));
    for (int i = 0; i < 10; i++) {
      error = new IllegalStateException("y".repeat(100_000), error);
    }
    String message = "x".repeat(1_000_000);
    for (LogFormat format : LogFormat.values()) {
      assertTrue(format.line(line(message, error, request())).length() < 16 * 1024);
    }
  }

  @Test
  void aSecretOfOursIsTakenOut() {
    String token = "brs_abcDEF123456_0123456789abcdefghijABCDEFGHIJ12345678";
    for (LogFormat format : LogFormat.values()) {
      String line =
          format.line(line("Bearer " + token, new IllegalStateException("of " + token), null));
      assertFalse(line.contains("abcDEF"), line);
      assertTrue(line.contains("Bearer brs_…"), line);
    }
  }

  @Test
  void whoAnAddressIsOfIsTakenOut() {
    for (String said :
        List.of("550 <alice.b+c@mail.acme.example> is unknown", "to=alice.b+c@acme.example;")) {
      assertFalse(Redaction.of(said).contains("alice"), said);
      assertTrue(Redaction.of(said).contains("acme.example"), said);
    }
  }

  @Test
  void whoALoginIsOfStays() {
    assertEquals("root@10.0.0.7 refuses", Redaction.of("root@10.0.0.7 refuses"));
    assertEquals("a.Query@1f2e3d", Redaction.of("a.Query@1f2e3d"));
  }

  @Test
  void aLongTextFullOfBeginningsOfAddressesIsLookedAtABoundedNumberOfTimes() {
    for (String text :
        List.of(
            ("a".repeat(63) + "@" + "b-".repeat(60)).repeat(2_000), "a".repeat(200_000) + "@")) {
      CountedText counted = new CountedText(text, new AtomicLong());
      Redaction.SECRET.matcher(counted).replaceAll("$1…");
      Redaction.PERSON.matcher(counted).replaceAll("…@");
      // The longest possible local part of an address, with some margin.
      long looks = counted.looks().get() / text.length();
      assertTrue(looks < 130, "each character was looked at " + looks + " times");
    }
  }

  /** A text that counts its reads. */
  private record CountedText(CharSequence text, AtomicLong looks) implements CharSequence {
    @Override
    public int length() {
      return text.length();
    }

    @Override
    public char charAt(int index) {
      looks.incrementAndGet();
      return text.charAt(index);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      return text.subSequence(start, end);
    }

    @Override
    public String toString() {
      return text.toString();
    }
  }
}
