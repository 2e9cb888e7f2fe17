package dev.bourse.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.ByteArrayBuilder;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object written directly as bytes, its fields in the order of the calls, equal to {@link
 * JsonObject#toBuffer} of the same tree. Used for objects written so often that building a tree
 * would dominate the cost of a request.
 */
public final class JsonBytes {
  private static final JsonFactory FACTORY = new JsonFactory();

  /** The size of a cluster's state with some nodes; the buffer grows beyond it. */
  private static final int USUAL_BYTES = 2_048;

  private final ByteArrayBuilder bytes = new ByteArrayBuilder(USUAL_BYTES);
  private final JsonGenerator json;

  /** An empty object. */
  public JsonBytes() {
    try {
      json = FACTORY.createGenerator(bytes);
      json.writeStartObject();
    } catch (IOException e) {
      throw inMemory(e);
    }
  }

  /**
   * Adds a field.
   *
   * @param value a String, Integer, Long, Double, Boolean, JsonObject or null
   * @throws IllegalArgumentException for a value of another kind
   */
  public JsonBytes put(String name, @Nullable Object value) {
    try {
      json.writeFieldName(name);
      if (value == null) {
        json.writeNull();
      } else if (value instanceof String text) {
        json.writeString(text);
      } else if (value instanceof Boolean truth) {
        json.writeBoolean(truth);
      } else if (value instanceof Double number) {
        json.writeNumber(number);
      } else if (value instanceof Integer || value instanceof Long) {
        json.writeNumber(((Number) value).longValue());
      } else if (value instanceof JsonObject tree) {
        json.writeRawValue(tree.toBuffer().toString());
      } else {
        throw new IllegalArgumentException(name + " is a " + value.getClass().getName());
      }
      return this;
    } catch (IOException e) {
      throw inMemory(e);
    }
  }

  /** Adds a field that is an object. */
  public JsonBytes object(String name, Consumer<JsonBytes> fields) {
    try {
      json.writeObjectFieldStart(name);
      fields.accept(this);
      json.writeEndObject();
      return this;
    } catch (IOException e) {
      throw inMemory(e);
    }
  }

  /** Adds a field that is an array of objects, one for each item. */
  public <T> JsonBytes objects(String name, Iterable<T> items, BiConsumer<JsonBytes, T> fields) {
    try {
      json.writeArrayFieldStart(name);
      for (T item : items) {
        json.writeStartObject();
        fields.accept(this, item);
        json.writeEndObject();
      }
      json.writeEndArray();
      return this;
    } catch (IOException e) {
      throw inMemory(e);
    }
  }

  /** Adds a field that is an array of texts, one for each item; each may be null. */
  public <T> JsonBytes strings(
      String name, Iterable<T> items, Function<T, @Nullable String> textOf) {
    try {
      json.writeArrayFieldStart(name);
      for (T item : items) {
        json.writeString(textOf.apply(item));
      }
      json.writeEndArray();
      return this;
    } catch (IOException e) {
      throw inMemory(e);
    }
  }

  /** Ends the object and returns it in UTF-8; no field can be added afterwards. */
  public byte[] toBytes() {
    try {
      json.close();
      return bytes.toByteArray();
    } catch (IOException e) {
      throw inMemory(e);
    }
  }

  /**
   * Cannot happen: writes to memory do not fail, and this class makes no invalid calls of the
   * generator.
   */
  private static UncheckedIOException inMemory(IOException e) {
    return new UncheckedIOException(e);
  }
}
