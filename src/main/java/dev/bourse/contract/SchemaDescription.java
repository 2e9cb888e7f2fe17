package dev.bourse.contract;

import dev.bourse.core.Text;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What a schema accepts and what a value is instead, in words. */
public final class SchemaDescription {
  /** Of a schema with a pattern: what that accepts, in words that follow "a string". */
  static final String ACCEPTS = "x-accepts";

  private SchemaDescription() {}

  /** What a schema accepts. */
  static String of(JsonObject schema) {
    JsonArray values = schema.getJsonArray("enum");
    if (values != null) {
      return "one of " + values.stream().map(String::valueOf).collect(Collectors.joining(", "));
    }
    JsonArray alternatives = schema.getJsonArray("oneOf");
    if (alternatives != null) {
      return alternatives.stream()
          .map(alternative -> of((JsonObject) alternative))
          .collect(Collectors.joining(" or "));
    }
    if (schema.getValue("type") instanceof JsonArray types) {
      return types.stream()
          .map(type -> "null".equals(type) ? "null" : of(schema.copy().put("type", type)))
          .collect(Collectors.joining(" or "));
    }
    return switch (schema.getString("type", "")) {
      case "integer" -> "an integer" + range(schema, "minimum", "maximum", "");
      case "number" -> "a number" + range(schema, "minimum", "maximum", "");
      case "string" -> string(schema);
      case "array" ->
          "an array"
              + range(schema, "minItems", "maxItems", " items")
              + (schema.containsKey("items") ? ", each " + of(schema.getJsonObject("items")) : "");
      case "boolean" -> "true or false";
      case "object" -> "a JSON object";
      default -> "a value as the contract describes it";
    };
  }

  private static String string(JsonObject schema) {
    String accepts = schema.getString(ACCEPTS, "");
    boolean isAnyText = schema.getInteger("minLength", 0) == 1 && !schema.containsKey("maxLength");
    return (isAnyText
            ? "a non-empty string"
            : "a string" + range(schema, "minLength", "maxLength", " characters"))
        + (accepts.isEmpty() ? "" : ": " + accepts);
  }

  private static String range(JsonObject schema, String least, String most, String unit) {
    Object low = schema.getValue(least);
    Object high = schema.getValue(most);
    if (low != null && low.equals(high)) {
      return " of " + low + unit;
    }
    if (low != null && high != null) {
      return (unit.isEmpty() ? " from " : " of ") + low + " to " + high + unit;
    }
    if (low != null) {
      return " of at least " + low + unit;
    }
    if (high != null) {
      return " of at most " + high + unit;
    }
    Object above = schema.getValue("exclusiveMinimum");
    return above == null ? "" : " over " + above;
  }

  /**
   * What a JSON value is, with the value when it is short. A text is quoted: that it is one is
   * often all that is wrong with it.
   */
  public static String shown(@Nullable Object value) {
    if (value instanceof String text) {
      return '"' + Text.shown(text) + "\" is a string";
    }
    if (value instanceof Number number) {
      return Text.shown(number.toString()) + " is a number";
    }
    if (value instanceof Boolean) {
      return value + " is a boolean";
    }
    if (value instanceof JsonArray) {
      return "an array is not acceptable";
    }
    return value instanceof JsonObject ? "an object is not acceptable" : "null is not acceptable";
  }
}
