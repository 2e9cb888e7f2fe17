package dev.bourse.contract;

import dev.bourse.core.Text;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.core.shareddata.Shareable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A compiled schema of a contract that checks values and describes their faults.
 *
 * <p>It stops at the first fault, and counts items, fields or characters before it looks at them.
 * So the check of any value costs no more than the check of an acceptable value. Immutable and
 * thread-safe.
 *
 * <p>It supports the keywords that the contracts use ({@link SchemaRules}) and refuses to compile
 * others; a test compares it with the schema library.
 */
public final class SchemaValidator {
  private final JsonObject schema;
  private final Set<String> types = new HashSet<>();
  private final Set<Object> values = new HashSet<>();
  private final @Nullable BigDecimal minimum;
  private final @Nullable BigDecimal maximum;
  private final @Nullable BigDecimal above;
  private final int leastLength;
  private final int mostLength;
  private final int leastItems;
  private final int mostItems;
  private final int leastFields;
  private final int mostFields;
  private final @Nullable Pattern pattern;
  private final @Nullable SchemaValidator items;
  private final Map<String, SchemaValidator> properties = new LinkedHashMap<>();
  private final Set<String> required = new HashSet<>();
  private final @Nullable SchemaValidator names;
  private final @Nullable SchemaValidator others;
  private final boolean isClosed;

  /** The default of a missing field; null if the contract has none. */
  private final @Nullable Object preset;

  private final List<SchemaValidator> alternatives = new ArrayList<>();

  /**
   * Compiles a schema that holds no {@code $ref}.
   *
   * @throws IllegalStateException listing the keywords that are not supported
   */
  public SchemaValidator(JsonObject schema) {
    this(schema.copy(), SchemaRules.faults("a schema", schema));
  }

  /** Whether a schema that is known to be sound accepts a value. */
  static boolean fits(JsonObject schema, @Nullable Object value) {
    return new SchemaValidator(schema, List.of()).fault(value) == null;
  }

  private SchemaValidator(JsonObject schema, List<String> faults) {
    if (!faults.isEmpty()) {
      throw new IllegalStateException(String.join("\n", faults));
    }
    this.schema = schema;
    if (schema.getValue("type") instanceof JsonArray several) {
      several.forEach(type -> types.add(String.valueOf(type)));
    } else if (schema.containsKey("type")) {
      types.add(schema.getString("type"));
    }
    schema.getJsonArray("enum", new JsonArray()).forEach(values::add);
    minimum = bound(schema, "minimum");
    maximum = bound(schema, "maximum");
    above = bound(schema, "exclusiveMinimum");
    leastLength = schema.getInteger("minLength", 0);
    mostLength = schema.getInteger("maxLength", Integer.MAX_VALUE);
    leastItems = schema.getInteger("minItems", 0);
    mostItems = schema.getInteger("maxItems", Integer.MAX_VALUE);
    leastFields = schema.getInteger("minProperties", 0);
    mostFields = schema.getInteger("maxProperties", Integer.MAX_VALUE);
    pattern = schema.containsKey("pattern") ? whole(schema.getString("pattern")) : null;
    items = piece(schema, "items");
    JsonObject named = schema.getJsonObject("properties", new JsonObject());
    named
        .fieldNames()
        .forEach(
            name ->
                properties.put(name, new SchemaValidator(named.getJsonObject(name), List.of())));
    schema.getJsonArray("required", new JsonArray()).forEach(n -> required.add(String.valueOf(n)));
    names = piece(schema, "propertyNames");
    others = piece(schema, "additionalProperties");
    isClosed = Boolean.FALSE.equals(schema.getValue("additionalProperties"));
    preset = schema.getValue("default");
    schema
        .getJsonArray("oneOf", new JsonArray())
        .forEach(one -> alternatives.add(new SchemaValidator((JsonObject) one, List.of())));
  }

  private static @Nullable BigDecimal bound(JsonObject schema, String keyword) {
    return schema.containsKey(keyword) ? new BigDecimal(schema.getValue(keyword).toString()) : null;
  }

  /** Replaces {@code $}, which in Java also matches before a line break at the end. */
  private static Pattern whole(String anchored) {
    return Pattern.compile(anchored.substring(1, anchored.length() - 1));
  }

  private static @Nullable SchemaValidator piece(JsonObject schema, String keyword) {
    return schema.getValue(keyword) instanceof JsonObject piece
        ? new SchemaValidator(piece, List.of())
        : null;
  }

  /**
   * Checks a value.
   *
   * @param name the name of the whole value in errors: a parameter's name, or empty for a body,
   *     whose fields have names of their own
   * @throws dev.bourse.core.ApiException {@code bad-request} naming the first field at fault, its
   *     value and the accepted ones
   */
  public void check(String name, @Nullable Object value) {
    SchemaViolation fault = fault(value);
    if (fault != null) {
      throw fault.refusal(name);
    }
  }

  /**
   * Removes null fields that are optional and have no meaning as null in the contract, also from
   * nested objects: null then means that the field is absent.
   */
  public void omitNulls(@Nullable Object value) {
    if (value instanceof JsonArray array && items != null) {
      for (int i = 0; i < Math.min(array.size(), mostItems); i++) {
        items.omitNulls(array.getValue(i));
      }
    }
    if (value instanceof JsonObject object) {
      properties.forEach(
          (name, property) -> {
            Object field = object.getValue(name);
            if (field != null) {
              property.omitNulls(field);
            } else if (!required.contains(name) && property.fault(null) != null) {
              object.remove(name);
            }
          });
    }
  }

  /**
   * Fills in the contract's defaults for missing fields of a valid object, also in nested objects.
   */
  public void putDefaults(JsonObject object) {
    properties.forEach(
        (name, property) -> {
          if (object.getValue(name) instanceof JsonObject inner) {
            property.putDefaults(inner);
          } else if (property.preset != null && !object.containsKey(name)) {
            object.put(
                name, property.preset instanceof Shareable own ? own.copy() : property.preset);
          }
        });
  }

  /** The accepted values, in words. */
  String wanted() {
    return SchemaDescription.of(schema);
  }

  /** The first fault of a value; null if it fits. */
  private @Nullable SchemaViolation fault(@Nullable Object value) {
    if (!alternatives.isEmpty()) {
      return ofAlternatives(value);
    }
    if (!types.isEmpty() && !hasType(value)) {
      // The fault of 1.5 for an integer is its value rather than its type.
      return value instanceof Number && types.contains("integer")
          ? SchemaViolation.of(value, schema)
          : SchemaViolation.mistyped(value, schema);
    }
    if (!values.isEmpty() && value != null && !values.contains(value)) {
      return SchemaViolation.of(value, schema);
    }
    if (value instanceof String text) {
      return ofText(text);
    }
    if (value instanceof Number number) {
      return isWithin(number) ? null : SchemaViolation.of(number, schema);
    }
    if (value instanceof JsonArray array) {
      return ofItems(array);
    }
    return value instanceof JsonObject object ? ofFields(object) : null;
  }

  private boolean hasType(@Nullable Object value) {
    if (value instanceof String) {
      return types.contains("string");
    }
    if (value instanceof Number) {
      return types.contains("number") || (types.contains("integer") && isWhole(value));
    }
    if (value instanceof JsonObject) {
      return types.contains("object");
    }
    if (value instanceof JsonArray) {
      return types.contains("array");
    }
    return types.contains(value == null ? "null" : "boolean");
  }

  private static boolean isWhole(Object number) {
    return number instanceof Integer || number instanceof Long || number instanceof BigInteger;
  }

  private @Nullable SchemaViolation ofAlternatives(@Nullable Object value) {
    SchemaViolation nearest = null;
    int fitting = 0;
    for (SchemaValidator alternative : alternatives) {
      SchemaViolation fault = alternative.fault(value);
      if (fault == null) {
        fitting++;
      } else if (alternative.hasType(value)) {
        nearest = fault;
      }
    }
    if (fitting == 1) {
      return null;
    }
    return nearest == null ? SchemaViolation.mistyped(value, schema) : nearest;
  }

  private @Nullable SchemaViolation ofText(String text) {
    // Length comes first: no pattern sees more than its contract allows. Characters are counted
    // only if the number of char values does not decide already. Tag characters are checked here
    // because regex engines disagree on how a class names characters beyond U+FFFF.
    int length =
        text.length() > 2L * mostLength ? text.length() : text.codePointCount(0, text.length());
    return length >= leastLength
            && length <= mostLength
            && (pattern == null || (pattern.matcher(text).matches() && !Text.hasTags(text)))
        ? null
        : SchemaViolation.of(text, schema);
  }

  private boolean isWithin(Number number) {
    if (minimum == null && maximum == null && above == null) {
      return true;
    }
    BigDecimal exact =
        number instanceof BigDecimal decimal
            ? decimal
            : isWhole(number) && !(number instanceof BigInteger)
                ? BigDecimal.valueOf(number.longValue())
                : new BigDecimal(number.toString());
    return (minimum == null || exact.compareTo(minimum) >= 0)
        && (maximum == null || exact.compareTo(maximum) <= 0)
        && (above == null || exact.compareTo(above) > 0);
  }

  private @Nullable SchemaViolation ofItems(JsonArray array) {
    if (array.size() < leastItems || array.size() > mostItems) {
      return SchemaViolation.said(
          array.size() + " items are not acceptable; expected " + SchemaDescription.of(schema));
    }
    for (int i = 0; items != null && i < array.size(); i++) {
      SchemaViolation fault = items.fault(array.getValue(i));
      if (fault != null) {
        return fault.at(i);
      }
    }
    return null;
  }

  private @Nullable SchemaViolation ofFields(JsonObject object) {
    int count = object.size();
    if (count < leastFields || count > mostFields) {
      return SchemaViolation.said(
          "%s not acceptable; expected at %s%s"
              .formatted(
                  count + (count == 1 ? " field is" : " fields are"),
                  count < leastFields ? "least " + leastFields : "most " + mostFields,
                  properties.isEmpty() ? "" : " of " + String.join(", ", properties.keySet())));
    }
    SchemaViolation unknown =
        names == null && others == null && !isClosed ? null : ofOthers(object);
    if (unknown != null) {
      return unknown;
    }
    for (Map.Entry<String, SchemaValidator> property : properties.entrySet()) {
      String name = property.getKey();
      if (object.containsKey(name)) {
        SchemaViolation fault = property.getValue().fault(object.getValue(name));
        if (fault != null) {
          return fault.at(name);
        }
      } else if (required.contains(name)) {
        return SchemaViolation.missing(name, property.getValue().schema);
      }
    }
    return null;
  }

  /**
   * The faults of fields that the schema does not list; in a closed object the first such field is
   * one.
   */
  private @Nullable SchemaViolation ofOthers(JsonObject object) {
    for (String name : object.fieldNames()) {
      if (names != null && names.fault(name) != null) {
        return SchemaViolation.said(
            "the name %s is not acceptable; expected %s"
                .formatted(Text.shown(name), SchemaDescription.of(names.schema)));
      }
      if (properties.containsKey(name)) {
        continue;
      }
      if (isClosed) {
        return SchemaViolation.unknown(name, properties.keySet());
      }
      SchemaViolation fault = others == null ? null : others.fault(object.getValue(name));
      if (fault != null) {
        return fault.at(name);
      }
    }
    return null;
  }
}
