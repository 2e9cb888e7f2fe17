package dev.bourse.contract;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import io.vertx.core.json.JsonObject;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * The fault of a value: a sentence about a place in it.
 *
 * @param before the part of the sentence before the place
 * @param path the place, {@code a.b[2]}; empty for the whole value
 * @param after the rest of the sentence
 */
public record SchemaViolation(String before, String path, String after) {
  /** A statement about the value at this place. */
  public static SchemaViolation said(String text) {
    return new SchemaViolation("", "", ": " + text);
  }

  /** A value of the right type that is not acceptable. */
  static SchemaViolation of(Object value, JsonObject schema) {
    return said(
        "%s is not acceptable; expected %s"
            .formatted(Text.shown(String.valueOf(value)), SchemaDescription.of(schema)));
  }

  /** A value of the wrong type. */
  static SchemaViolation mistyped(@Nullable Object value, JsonObject schema) {
    return said(SchemaDescription.shown(value) + "; expected " + SchemaDescription.of(schema));
  }

  /** A required field that is missing. */
  static SchemaViolation missing(String name, JsonObject schema) {
    return new SchemaViolation("", name, " is missing; expected " + SchemaDescription.of(schema));
  }

  /** A field that the schema does not list. */
  static SchemaViolation unknown(String name, Collection<String> known) {
    return new SchemaViolation(
        "unknown field '",
        name,
        "'; expected " + (known.isEmpty() ? "none" : "only " + String.join(", ", known)));
  }

  /** The same fault, as seen from an object that holds the value in this field. */
  SchemaViolation at(String field) {
    return new SchemaViolation(
        before, path.isEmpty() || path.startsWith("[") ? field + path : field + '.' + path, after);
  }

  /** The same fault, as seen from an array that holds the value at this index. */
  SchemaViolation at(int index) {
    return at("[" + index + ']');
  }

  /**
   * The refusal for this fault.
   *
   * @param name the name of the whole value; empty for a body
   */
  public ApiException refusal(String name) {
    String whole = name.isEmpty() ? path : at(name).path();
    return ApiException.of(
        ErrorCode.BAD_REQUEST, before + (whole.isEmpty() ? "body" : Text.shown(whole)) + after);
  }
}
