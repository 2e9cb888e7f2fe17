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
 * A JSON object that is written as bytes at once, its fields in the order they are put, as {@link
 * JsonObject#toBuffer} would write a tree of them: for what is written so often that the tree would
 * cost more than all else of a request.
 */
public final class JsonBytes {
  private static final JsonFactory FACTORY = new JsonFactory();

  /** A cluster's state with some nodes; it grows when there are more. */
  private static final int USUAL_BYTES = 2_048;

  private final ByteArrayBuilder bytes = new ByteArrayBuilder(USUAL_BYTES);
  private final JsonGenerator json;

  /** An object without fields yet. */
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

  /** The object, in UTF-8. Ends it: nothing can be put any more. */
  public byte[] toBytes() {
    try {
      json.close();
      return bytes.toByteArray();
    } catch (IOException e) {
      throw inMemory(e);
    }
  }

  /** Memory does not fail so, and no misuse of the generator gets past this class. */
  private static UncheckedIOException inMemory(IOException e) {
    return new UncheckedIOException(e);
  }
}
