package dev.bourse.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The values shared by all packages. */
@Tag("fast")
class ValuesTest {
  @Test
  void foldingTurnsAsciisCapitalsSmallAndNothingElseIntoAscii() {
    assertEquals("alice@acme.example", Text.folded("Alice@ACME.example"));
    assertEquals("", Text.folded(""));
    for (char c = 0; c < Character.MAX_VALUE; c++) {
      String folded = Text.folded("a" + c + "B");
      assertEquals(c < 128, folded.charAt(1) < 128, Integer.toHexString(c));
      assertEquals(c < 128 ? Character.toLowerCase(c) : c, folded.charAt(1));
    }
  }

  @Test
  void aPriceIsWholeCentsHoweverItIsWritten() {
    assertTrue(Price.isWholeCents(new BigDecimal("2.50000")));
    assertTrue(Price.isWholeCents(new BigDecimal("1E+3")));
    assertFalse(Price.isWholeCents(new BigDecimal("0.001")));
    assertEquals(250, Price.toCents(new BigDecimal("2.5000")));
    assertEquals(100_000, Price.toCents(new BigDecimal("1E+3")));
    assertThrows(ArithmeticException.class, () -> Price.toCents(new BigDecimal("0.001")));
    assertThrows(ArithmeticException.class, () -> Price.toCents(new BigDecimal("1E+30")));
  }

  @Test
  void everyPriceInCentsSurvivesItsDecimalForm() {
    for (long cents = 0; cents < 100_000; cents++) {
      assertEquals(cents, Price.toCents(new BigDecimal(Double.toString(Price.toUsd(cents)))));
    }
    assertEquals("0.07", Price.shown(7));
  }

  @Test
  void dollarsAreTheDoubleNearestToTheCents() {
    Random random = new Random(7);
    for (int i = 0; i < 100_000; i++) {
      long cents = random.nextLong(1L << 53) >> random.nextInt(53);
      assertEquals(
          BigDecimal.valueOf(cents, 2).doubleValue(), Price.toUsd(cents), cents + " cents");
    }
  }

  @Test
  void aThrottlingRefusalRoundsItsWaitUpToWholeSeconds() {
    assertEquals(1L, waits(1));
    assertEquals(1L, waits(1_000));
    assertEquals(2L, waits(1_001));
    assertEquals(1L, waits(-5));
  }

  @Test
  void shownTextIsOneShortLine() {
    assertEquals("a?b", Text.shown("a\nb"));
    assertEquals(65, Text.shown("x".repeat(1_000)).length());
    assertEquals("??", Text.shown("\uD83D\uDE00"));
  }

  /** Names of members come from a sign-in provider, without validation by a contract. */
  @Test
  void shownTextHasNoInvisibleCharacters() {
    for (int c : new int[] {0xad, 0x34f, 0x115f, 0x1160, 0x200b, 0x202e, 0x3164, 0xfeff, 0xffa0}) {
      assertEquals("dana?", Text.shown("dana" + Character.toString(c)), Integer.toHexString(c));
    }
    assertEquals("dana??", Text.shown("dana" + Character.toString(0xe0041)));
    assertEquals("Gr\u00fc\u00dfe, \u5c71\u7530", Text.shown("Gr\u00fc\u00dfe, \u5c71\u7530"));
  }

  @Test
  void aPageKnowsWhetherMoreFollows() {
    assertEquals(new Page<>(List.of(1, 2), true), Page.of(List.of(1, 2, 3), 2));
    assertEquals(new Page<>(List.of(1, 2), false), Page.of(List.of(1, 2), 2));
  }

  @Test
  void anAddressHasOneSpelling() {
    Map<String, String> spellings =
        Map.of(
            "198.18.0.7", "198.18.0.7",
            "2001:DB8:0:0:0:0:0:7", "2001:db8::7",
            "2001:db8::0007", "2001:db8::7",
            "::", "::",
            "0:0:0:0:0:0:0:1", "::1",
            "1:0:0:2:0:0:0:3", "1:0:0:2::3",
            "1:0:0:2:3:0:0:4", "1::2:3:0:0:4",
            "1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7",
            "1:2:3:4:5:6:0:0", "1:2:3:4:5:6::",
            "::ffff:198.18.0.7", "198.18.0.7");
    spellings.forEach((sent, shown) -> assertEquals(shown, IpAddress.canonical(sent).get(), sent));
    for (String none : List.of("", ":", "1", "1.2.3", "1.2.3.256", "01.2.3.4", "a.b", "1::2::3")) {
      assertEquals(Optional.empty(), IpAddress.canonical(none), none);
    }
    assertEquals(Optional.empty(), IpAddress.canonical("fe80::1%eth0"));
    assertEquals(Optional.empty(), IpAddress.canonical(":".repeat(1_000)));
  }

  @Test
  void timesAlwaysCarryMilliseconds() {
    assertEquals("1970-01-01T00:00:00.000Z", Times.rfc3339(0));
    assertEquals("2023-11-14T22:13:20.007Z", Times.rfc3339(1_700_000_000_007L));
  }

  @Test
  void aTimeIsWrittenAsJavasFormatterWouldWriteIt() {
    DateTimeFormatter java =
        DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
    long first = Instant.parse("0000-01-01T00:00:00Z").toEpochMilli();
    long after = Instant.parse("+10000-01-01T00:00:00Z").toEpochMilli();
    Random random = new Random(8);
    LongStream.concat(
            LongStream.of(first - 1, first, after - 1, after, -1, 0, 951_782_399_999L),
            random.longs(100_000, first, after))
        .forEach(
            millis ->
                assertEquals(java.format(Instant.ofEpochMilli(millis)), Times.rfc3339(millis)));
  }

  private static Object waits(long millis) {
    return String.valueOf(
            ApiException.retryLater(ErrorCode.RATE_LIMITED, "x", millis)
                .extras()
                .get("retry_after_s"))
        .transform(Long::valueOf);
  }
}
