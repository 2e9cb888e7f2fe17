package dev.bourse.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.ByteArrayBuilder;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object written directly as bytes, its fields in the order of the calls, equal to {@link
 * JsonObject#toBuffer} of the same tree. {@link JsonRecord} writes its members with it.
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
   * @param value a String, Integer, Long, Double, Boolean or null
   * @throws IllegalArgumentException for a value of another kind
   */
  public void put(String name, @Nullable Object value) {
    try {
      json.writeFieldName(name);
      write(name, value);
    } catch (IOException e) {
      throw inMemory(e);
    }
  }

  /** Adds a field that is a time; null if it is null. */
  public void time(String name, @Nullable Long epochMillis) {
    put(name, Times.rfc3339OrNull(epochMillis));
  }

  /** Adds a field that is an object; null if it is null. */
  public void object(String name, @Nullable JsonRecord fields) {
    try {
      json.writeFieldName(name);
      if (fields == null) {
        json.writeNull();
      } else {
        object(fields);
      }
    } catch (IOException e) {
      throw inMemory(e);
    }
  }

  private void object(JsonRecord fields) throws IOException {
    json.writeStartObject();
    fields.write(this);
    json.writeEndObject();
  }

  /** Adds a field that is an object with these members, in their order; null if it is null. */
  public void map(String name, @Nullable Map<String, ?> members) {
    if (members == null) {
      put(name, null);
    } else {
      object(name, out -> members.forEach(out::put));
    }
  }

  /** Adds a field that is an array of objects. */
  public void objects(String name, List<? extends JsonRecord> items) {
    try {
      json.writeArrayFieldStart(name);
      for (JsonRecord item : items) {
        object(item);
      }
      json.writeEndArray();
    } catch (IOException e) {
      throw inMemory(e);
    }
  }

  /**
   * Adds a field that is an array of values.
   *
   * @param items values as {@link #put} takes them
   */
  public void values(String name, List<? extends @Nullable Object> items) {
    try {
      json.writeArrayFieldStart(name);
      for (Object item : items) {
        write(name, item);
      }
      json.writeEndArray();
    } catch (IOException e) {
      throw inMemory(e);
    }
  }

  private void write(String name, @Nullable Object value) throws IOException {
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
    } else {
      throw new IllegalArgumentException(name + " is a " + value.getClass().getName());
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
