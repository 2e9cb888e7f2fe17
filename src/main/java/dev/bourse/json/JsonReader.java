package dev.bourse.json;

import dev.bourse.core.ApiException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads the members of a request for its record. The contract's validator runs before and checks
 * bounds, patterns and unknown members; this class rejects a value whose kind the record cannot
 * hold, so that no value is converted silently.
 */
public final class JsonReader {
  private final JsonObject body;

  /**
   * @param body a tree as {@link StrictJson} returns it
   */
  public JsonReader(JsonObject body) {
    this.body = body;
  }

  /** Returns a string. */
  public String text(String name) {
    if (body.getValue(name) instanceof String text) {
      return text;
    }
    throw rejected(name, "a string");
  }

  /** Returns a whole number of 32 bits. */
  public int integer(String name) {
    long number = longInteger(name);
    if (number == (int) number) {
      return (int) number;
    }
    throw rejected(name, "an integer of 32 bits");
  }

  /** Returns a whole number of 64 bits. */
  public long longInteger(String name) {
    Object value = body.getValue(name);
    if (value instanceof Integer || value instanceof Long) {
      return ((Number) value).longValue();
    }
    throw rejected(name, "an integer of 64 bits");
  }

  /** Returns a number with the digits that were sent. */
  public BigDecimal decimal(String name) {
    if (body.getValue(name) instanceof Number number) {
      return new BigDecimal(number.toString());
    }
    throw rejected(name, "a number");
  }

  /** Returns true or false. */
  public boolean truth(String name) {
    if (body.getValue(name) instanceof Boolean truth) {
      return truth;
    }
    throw rejected(name, "true or false");
  }

  /** Returns an array of strings. */
  public List<String> texts(String name) {
    if (body.getValue(name) instanceof JsonArray array
        && array.stream().allMatch(String.class::isInstance)) {
      return array.stream().map(String.class::cast).toList();
    }
    throw rejected(name, "an array of strings");
  }

  /** Returns an object. */
  public <T> T object(String name, Function<JsonObject, T> read) {
    if (body.getValue(name) instanceof JsonObject object) {
      return read.apply(object);
    }
    throw rejected(name, "an object");
  }

  /** Returns an array of objects. */
  public <T> List<T> objects(String name, Function<JsonObject, T> read) {
    if (body.getValue(name) instanceof JsonArray array
        && array.stream().allMatch(JsonObject.class::isInstance)) {
      return array.stream().map(JsonObject.class::cast).map(read).toList();
    }
    throw rejected(name, "an array of objects");
  }

  /** Returns an object whose members are strings or null, in the order in which they were sent. */
  public Map<String, @Nullable String> textMap(String name) {
    Map<String, @Nullable String> texts = new LinkedHashMap<>();
    JsonObject object = object(name, Function.identity());
    JsonReader in = new JsonReader(object);
    object.fieldNames().forEach(member -> texts.put(member, in.optional(member, in::text)));
    return texts;
  }

  /** Returns a value whose schema allows several types. */
  public Object value(String name) {
    Object value = body.getValue(name);
    if (value == null) {
      throw rejected(name, "a value");
    }
    return value;
  }

  /** Returns a value; null if it is absent or null, which mean the same here. */
  public <T> @Nullable T optional(String name, Function<String, T> read) {
    return body.getValue(name) == null ? null : read.apply(name);
  }

  /** Returns a value for which absent and null mean different things. */
  public <T> Setting<T> setting(String name, Function<String, T> read) {
    return body.getValue(name) != null
        ? new Setting.To<>(read.apply(name))
        : body.containsKey(name) ? new Setting.Cleared<>() : new Setting.Kept<>();
  }

  private ApiException rejected(String name, String accepted) {
    return ApiException.badField(name, body.getValue(name), accepted);
  }
}
