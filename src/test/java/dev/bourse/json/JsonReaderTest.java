package dev.bourse.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Members of requests. */
@Tag("fast")
class JsonReaderTest {
  /** A read of a member, and values that it must reject. */
  private record Rejection(
      String accepted, BiFunction<JsonReader, String, Object> read, List<String> values) {}

  private static JsonReader reader(String json) {
    Object body = StrictJson.parse(json.getBytes(StandardCharsets.UTF_8));
    return new JsonReader((JsonObject) Objects.requireNonNull(body));
  }

  @Test
  void valuesKeepEveryDigit() {
    JsonReader in =
        reader(
            """
            {"price": 0.10, "huge": 12345678901234567890123456789, "whole": 8.0,
            "long": 9007199254740993, "text": "\\"\\u2028\\n", "list": ["a", ""]}""");
    assertEquals(new BigDecimal("0.10"), in.decimal("price"));
    assertEquals(new BigDecimal("12345678901234567890123456789"), in.decimal("huge"));
    assertEquals(new BigDecimal("8"), in.decimal("whole"));
    assertEquals(8, in.integer("whole"));
    assertEquals(9_007_199_254_740_993L, in.longInteger("long"));
    assertEquals("\"\u2028\n", in.text("text"));
    assertEquals(List.of("a", ""), in.texts("list"));
  }

  @Test
  void absentNullAndAValueAreThreeSettings() {
    JsonReader in = reader("{\"none\": null, \"eight\": 8}");
    assertEquals(new Setting.Kept<Integer>(), in.setting("absent", in::integer));
    assertEquals(new Setting.Cleared<Integer>(), in.setting("none", in::integer));
    assertEquals(new Setting.To<>(8), in.setting("eight", in::integer));
    assertNull(in.optional("absent", in::integer));
    assertNull(in.optional("none", in::integer));
    assertEquals(8, in.optional("eight", in::integer));
  }

  @TestFactory
  Stream<DynamicTest> aValueOfAnotherKindIsRejectedAndNeverConverted() {
    return Stream.of(
            new Rejection("a string", JsonReader::text, List.of("1", "true", "[]", "null")),
            new Rejection(
                "an integer of 32 bits", JsonReader::integer, List.of("2147483648", "-2147483649")),
            new Rejection(
                "an integer of 64 bits",
                JsonReader::longInteger,
                List.of("1.5", "\"1\"", "9223372036854775808", "null")),
            new Rejection("a number", JsonReader::decimal, List.of("\"1\"", "{}", "null")),
            new Rejection("true or false", JsonReader::truth, List.of("0", "\"true\"", "null")),
            new Rejection(
                "an array of strings", JsonReader::texts, List.of("\"a\"", "[1]", "[null]", "{}")))
        .flatMap(
            rejection ->
                rejection.values().stream()
                    .map(
                        value ->
                            DynamicTest.dynamicTest(
                                value + " as " + rejection.accepted(),
                                () -> {
                                  JsonReader in = reader("{\"m\": " + value + "}");
                                  ApiException refusal =
                                      assertThrows(
                                          ApiException.class,
                                          () -> rejection.read().apply(in, "m"));
                                  assertEquals(ErrorCode.BAD_REQUEST, refusal.code());
                                  assertTrue(
                                      refusal.detail().startsWith("m: ")
                                          && refusal
                                              .detail()
                                              .endsWith("expected " + rejection.accepted()),
                                      refusal.detail());
                                })));
  }
}
