package dev.bourse.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Money for people: exact dollars, under a name that says so. */
class DollarsTest {
  private static String shown(Object micros) {
    return Table.fields(new JsonObject().put("amount_micros", micros)).strip();
  }

  @Test
  void microDollarsAreShownInDollarsToTheLastDigit() {
    assertEquals("amount_usd  2500.50", shown(2_500_500_000L));
    assertEquals("amount_usd  0.00", shown(0));
    assertEquals("amount_usd  -16.00", shown(-16_000_000));
    assertEquals("amount_usd  0.000001", shown(1));
    assertEquals("amount_usd  -9223372036854.775808", shown(Long.MIN_VALUE));
    assertEquals("amount_usd  1000000.00", shown(1_000_000_000_000L));
  }

  @Test
  void soTheyAreInRowsAndInWhatIsNested() {
    assertEquals(
        "ID  AMOUNT_USD\n1   4.00\n2   -\n",
        Table.rows(
            List.of(
                new JsonObject().put("id", 1).put("amount_micros", 4_000_000),
                new JsonObject().put("id", 2).putNull("amount_micros"))));
    assertEquals("limit_usd=1.25", Table.cell(new JsonObject().put("limit_micros", 1_250_000)));
  }

  @Test
  void whatIsNoMoneyStaysAsItIs() {
    assertEquals("gpu_millis  5\n", Table.fields(new JsonObject().put("gpu_millis", 5)));
  }
}
