package dev.bourse.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.json.JsonRecord;
import dev.bourse.schemas.common.TokenLimitsOrderJson;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The limits of a token's declarations: parsing, display and narrowing. */
@Tag("fast")
class TokenLimitsTest {
  private static final int RUNS = 20_000;

  private static JsonObject json(String text) {
    return new JsonObject(text);
  }

  @Test
  void whatIsAbsentNullOrBlankHasNoLimit() {
    assertEquals(TokenLimits.NONE, TokenLimits.of((TokenLimitsOrderJson) null));
    assertEquals(TokenLimits.NONE, TokenLimits.of(new JsonObject()));
    assertEquals(
        TokenLimits.NONE,
        TokenLimits.of(
            json("{\"max_gpus\": null, \"max_hourly_usd\": \" \", \"max_lease\": \"\"}")));
    assertNull(TokenLimits.NONE.toJson());
    assertEquals("", TokenLimits.NONE.detail());
  }

  @Test
  void aBodyAndAFormMeanTheSame() {
    TokenLimits ofBody =
        TokenLimits.of(
            TokenLimitsOrderJson.read(
                json(
                    """
                    {"max_gpus": 16, "max_price_per_gpu_hour": 3.5, "max_hourly_usd": 48,
                    "max_lease": "480m"}\
                    """)));
    TokenLimits ofForm =
        TokenLimits.of(
            json(
                """
                {"max_gpus": " 16", "max_price_per_gpu_hour": "3.50", "max_hourly_usd": "48.0",
                "max_lease": "8h", "csrf": "x"}\
                """));
    assertEquals(new TokenLimits(16, 350L, 4_800L, 28_800_000L), ofBody);
    assertEquals(ofBody, ofForm);
    assertEquals(
        " limits=[max_gpus=16,max_price_per_gpu_hour=3.50,max_hourly_usd=48.00,max_lease=8h]",
        ofBody.detail());
  }

  @Test
  void whatIsNoLimitIsRefusedNamingItsField() {
    Map<String, List<String>> bad =
        Map.of(
            TokenLimits.MAX_GPUS, List.of("-1", "1.5", "x", "1000001", "99999999999"),
            TokenLimits.MAX_PRICE, List.of("-0.01", "1.001", "$3", "1e3", "1000000000.01"),
            TokenLimits.MAX_HOURLY, List.of("-1", "0.005", "many"),
            TokenLimits.MAX_LEASE, List.of("0h", "8", "h", "8 h", "366d", "99999999d", "-1h"));
    bad.forEach(
        (field, values) ->
            values.forEach(
                value -> {
                  ApiException refused =
                      assertThrows(
                          ApiException.class,
                          () -> TokenLimits.of(new JsonObject().put(field, value)),
                          field + value);
                  assertEquals(ErrorCode.BAD_REQUEST, refused.code());
                  assertTrue(refused.detail().startsWith(field), refused.detail());
                }));
  }

  private static TokenLimits random(Random random) {
    return new TokenLimits(
        any(random) ? null : Integer.valueOf(random.nextInt(64)),
        any(random) ? null : Long.valueOf(random.nextInt(1_000)),
        any(random) ? null : Long.valueOf(random.nextInt(100_000)),
        any(random) ? null : Long.valueOf(1_000L * (1 + random.nextInt(200_000))));
  }

  private static boolean any(Random random) {
    return random.nextInt(3) == 0;
  }

  @Test
  void whatIsShownIsReadAgain() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < RUNS; i++) {
      TokenLimits limits = random(random);
      JsonObject shown = JsonRecord.treeOrNull(limits.toJson());
      assertEquals(
          limits,
          TokenLimits.of(shown == null ? null : TokenLimitsOrderJson.read(shown)),
          "seed " + seed);
    }
  }

  /** Checks that the second limits accept everything that the first accept. */
  private static boolean within(@Nullable Number narrow, @Nullable Number wide) {
    return wide == null || (narrow != null && narrow.longValue() <= wide.longValue());
  }

  private static boolean within(TokenLimits narrow, TokenLimits wide) {
    return within(narrow.maxGpus(), wide.maxGpus())
        && within(narrow.maxPriceCents(), wide.maxPriceCents())
        && within(narrow.maxHourlyCents(), wide.maxHourlyCents())
        && within(narrow.maxLeaseMillis(), wide.maxLeaseMillis());
  }

  @Test
  void narrowingNeverWidensAndWhatIsNotNamedStays() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    int refused = 0;
    for (int i = 0; i < RUNS; i++) {
      TokenLimits standing = random(random);
      TokenLimits asked = random(random);
      try {
        TokenLimits next = standing.narrowedTo(asked);
        assertTrue(within(next, standing), "seed " + seed);
        assertTrue(within(next, asked), "seed " + seed);
        assertEquals(standing, standing.narrowedTo(TokenLimits.NONE), "seed " + seed);
        assertEquals(next, next.narrowedTo(asked), "told twice, seed " + seed);
      } catch (ApiException wider) {
        refused++;
        assertEquals(ErrorCode.TOKEN_LIMIT, wider.code(), "seed " + seed);
        assertFalse(within(asked, standing), "seed " + seed);
      }
    }
    assertTrue(refused > 0 && refused < RUNS, "seed " + seed);
  }
}
