package dev.bourse.command;

import dev.bourse.command.RemoteOperation.Input;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Converts command-line text to a field's JSON value. */
final class FieldValue {
  /** The text that sets a nullable field to null. */
  static final String NONE = "none";

  private FieldValue() {}

  /**
   * @param texts the values given; several if the option was repeated
   * @throws IllegalArgumentException when it is no value of the field's type
   * @throws io.vertx.core.json.DecodeException if the text should be a JSON object and is not
   */
  static @Nullable Object of(Input field, List<String> texts) {
    if (field.isNullable() && texts.equals(List.of(NONE))) {
      return null;
    }
    return switch (field.type()) {
      case "integer" -> Long.valueOf(texts.get(0));
      case "number" -> new BigDecimal(texts.get(0));
      case "boolean" -> truth(texts.get(0));
      case "array" -> array(texts);
      case "object" -> object(texts);
      default -> texts.get(0);
    };
  }

  private static boolean truth(String text) {
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException(text);
    };
  }

  /** Values repeated, separated by commas, or both. */
  private static JsonArray array(List<String> texts) {
    JsonArray array = new JsonArray();
    for (String text : texts) {
      for (String item : text.split(",", -1)) {
        if (!item.isBlank()) {
          array.add(item.strip());
        }
      }
    }
    return array;
  }

  /** Name-value pairs, or one JSON text. */
  private static JsonObject object(List<String> texts) {
    if (texts.size() == 1 && texts.get(0).startsWith("{")) {
      return new JsonObject(texts.get(0));
    }
    JsonObject object = new JsonObject();
    for (String text : texts) {
      int equals = text.indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException(text);
      }
      object.put(text.substring(0, equals), text.substring(equals + 1));
    }
    return object;
  }
}
