package dev.bourse.contract;

import dev.bourse.core.Text;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Describes in words the values a schema accepts, and the value it was given. */
public final class SchemaDescription {
  /**
   * Of a schema with a pattern: an explanation of the pattern that follows the words "a string".
   */
  static final String ACCEPTS = "x-accepts";

  private SchemaDescription() {}

  /** The values a schema accepts. */
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
   * The type of a JSON value, with the value when it is short. Texts are quoted, because often the
   * only fault of a value is that it is a text.
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
