package dev.bourse.mcp;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Canonical JSON: sorted keys, and one spelling for equal numbers. */
final class CanonicalJson {
  private CanonicalJson() {}

  static String text(JsonObject object) {
    StringBuilder text = new StringBuilder();
    write(object, text);
    return text.toString();
  }

  private static void write(@Nullable Object value, StringBuilder text) {
    if (value instanceof JsonObject object) {
      Map<String, @Nullable Object> ordered = new TreeMap<>();
      object.fieldNames().forEach(name -> ordered.put(name, object.getValue(name)));
      text.append('{');
      String separator = "";
      for (Map.Entry<String, @Nullable Object> field : ordered.entrySet()) {
        text.append(separator).append(new JsonArray().add(field.getKey()).encode()).append(':');
        write(field.getValue(), text);
        separator = ",";
      }
      text.append('}');
    } else if (value instanceof JsonArray array) {
      text.append('[');
      for (int i = 0; i < array.size(); i++) {
        text.append(i == 0 ? "" : ",");
        write(array.getValue(i), text);
      }
      text.append(']');
    } else if (value instanceof Number number) {
      text.append(new BigDecimal(number.toString()).stripTrailingZeros().toPlainString());
    } else {
      text.append(new JsonArray().add(value).encode());
    }
  }
}
