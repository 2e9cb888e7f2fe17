package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.pools.Demand;
import dev.bourse.pools.Quote;
import dev.bourse.pools.Rivalry;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("fast")
class QuoteTextTest {
  /** Creates a demand with the maximum number of levels, the highest prices and many nodes. */
  private static final Quote LARGEST =
      new Quote(
          99_999_999L,
          Map.of("acme", 99_999_998L),
          100_000_000L,
          Integer.MAX_VALUE,
          Integer.MAX_VALUE - 1,
          Long.MAX_VALUE,
          Long.MAX_VALUE - 1,
          new Demand(
              LongStream.range(0, Demand.MAX_LEVELS)
                  .mapToObj(i -> new Demand.Level(100_000_000 - i, 1_000_000_000 + i))
                  .toList()),
          new Rivalry(100_000_000, "o".repeat(64), 5));

  @Test
  void whatIsWrittenIsReadTheSame() {
    Quote nothing = new Quote(null, null, 0, 0, 0, 0);
    Quote seated =
        new Quote(
            250L,
            Map.of("acme", 200L),
            251L,
            10,
            3,
            1_000,
            2_000,
            new Demand(List.of(new Demand.Level(300, 2), new Demand.Level(250, 9))),
            Rivalry.NONE.with("acme", 300).with("globex", 250));
    for (Quote quote : List.of(nothing, seated, LARGEST)) {
      assertEquals(Optional.of(quote), QuoteText.read(QuoteText.write(quote)));
    }
  }

  @Test
  void theLargestIsAFewKilobytes() {
    assertTrue(QuoteText.write(LARGEST).length() < 8_000);
  }

  @Test
  void whatIsNoQuoteIsNone() {
    for (String text : List.of("", "[]", "{}", "{\"clearing\": \"high\"}", "not a text of ours")) {
      assertEquals(Optional.empty(), QuoteText.read(text), text);
    }
  }
}
