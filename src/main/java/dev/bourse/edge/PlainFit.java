package dev.bourse.edge;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Tells quickly that a value fits a schema of the simple kind most requests have: types, bounds,
 * fixed values, closed objects. It never says that a value does not fit: what it does not recognise
 * is left to the library, whose judgement costs a third of a whole write.
 */
final class PlainFit {
  /** Keywords that are understood here; a schema with any other fits nothing plainly. */
  private static final Set<String> KEYWORDS =
      Set.of(
          "type",
          "minimum",
          "maximum",
          "minLength",
          "maxLength",
          "minItems",
          "maxItems",
          "items",
          "properties",
          "required",
          "additionalProperties",
          "enum",
          "default",
          "description",
          "examples");

  private final boolean understood;
  private final String type;
  private final Set<Object> values;
  private final double minimum;
  private final double maximum;
  private final int least;
  private final int most;
  private final Map<String, PlainFit> properties = new HashMap<>();
  private final List<String> required;
  private final @Nullable PlainFit items;

  /** Compiles a schema that holds no {@code $ref}. */
  PlainFit(JsonObject schema) {
    type = schema.getValue("type") instanceof String single ? single : "";
    values = schema.getJsonArray("enum", new JsonArray()).stream().collect(Collectors.toSet());
    minimum = schema.getDouble("minimum", Double.NEGATIVE_INFINITY);
    maximum = schema.getDouble("maximum", Double.POSITIVE_INFINITY);
    boolean isArray = type.equals("array");
    least = schema.getInteger(isArray ? "minItems" : "minLength", 0);
    most = schema.getInteger(isArray ? "maxItems" : "maxLength", Integer.MAX_VALUE);
    required =
        schema.getJsonArray("required", new JsonArray()).stream().map(String::valueOf).toList();
    items = schema.getValue("items") instanceof JsonObject each ? new PlainFit(each) : null;
    JsonObject named = schema.getJsonObject("properties", new JsonObject());
    for (String name : named.fieldNames()) {
      properties.put(name, new PlainFit(named.getJsonObject(name)));
    }
    boolean isClosed =
        !type.equals("object") || Boolean.FALSE.equals(schema.getValue("additionalProperties"));
    understood = KEYWORDS.containsAll(schema.fieldNames()) && isClosed;
  }

  /** Whether the value certainly fits. */
  boolean accepts(@Nullable Object value) {
    if (!understood || value == null || (!values.isEmpty() && !values.contains(value))) {
      return false;
    }
    return switch (type) {
      case "string" -> value instanceof String text && isWithin(codePoints(text));
      case "integer" ->
          (value instanceof Integer || value instanceof Long) && isWithin((Number) value);
      case "number" -> value instanceof Number number && isWithin(number);
      case "array" -> value instanceof JsonArray array && acceptsItems(array);
      case "object" -> value instanceof JsonObject object && acceptsFields(object);
      default -> false;
    };
  }

  private boolean acceptsItems(JsonArray array) {
    if (items == null || !isWithin(array.size())) {
      return false;
    }
    for (int i = 0; i < array.size(); i++) {
      if (!items.accepts(array.getValue(i))) {
        return false;
      }
    }
    return true;
  }

  private boolean acceptsFields(JsonObject object) {
    Map<String, Object> fields = object.getMap();
    for (Map.Entry<String, Object> field : fields.entrySet()) {
      PlainFit property = properties.get(field.getKey());
      if (property == null || !property.accepts(field.getValue())) {
        return false;
      }
    }
    for (String name : required) {
      if (!fields.containsKey(name)) {
        return false;
      }
    }
    return true;
  }

  private boolean isWithin(Number number) {
    double value = number.doubleValue();
    return value >= minimum && value <= maximum;
  }

  private boolean isWithin(int size) {
    return size >= least && size <= most;
  }

  private static int codePoints(String text) {
    return text.codePointCount(0, text.length());
  }
}
