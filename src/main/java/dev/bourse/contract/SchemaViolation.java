package dev.bourse.contract;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import io.vertx.core.json.JsonObject;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * What is wrong with a value: a sentence about a place in it.
 *
 * @param before what the sentence says before it names the place
 * @param path the place, {@code a.b[2]}; empty for the whole
 * @param after the rest of the sentence
 */
public record SchemaViolation(String before, String path, String after) {
  /** Something said of the value at this place. */
  public static SchemaViolation said(String text) {
    return new SchemaViolation("", "", ": " + text);
  }

  /** A value that is not acceptable, though of the right type. */
  static SchemaViolation of(Object value, JsonObject schema) {
    return said(
        "%s is not acceptable; expected %s"
            .formatted(Text.shown(String.valueOf(value)), SchemaDescription.of(schema)));
  }

  /** A value of another type. */
  static SchemaViolation mistyped(@Nullable Object value, JsonObject schema) {
    return said(SchemaDescription.shown(value) + "; expected " + SchemaDescription.of(schema));
  }

  /** A field that is not there. */
  static SchemaViolation missing(String name, JsonObject schema) {
    return new SchemaViolation("", name, " is missing; expected " + SchemaDescription.of(schema));
  }

  /** A field that nobody knows. */
  static SchemaViolation unknown(String name, Collection<String> known) {
    return new SchemaViolation(
        "unknown field '",
        name,
        "'; expected " + (known.isEmpty() ? "none" : "only " + String.join(", ", known)));
  }

  /** The same, seen from the object that has the value in this field. */
  SchemaViolation at(String field) {
    return new SchemaViolation(
        before, path.isEmpty() || path.startsWith("[") ? field + path : field + '.' + path, after);
  }

  /** The same, seen from the array that has the value at this place. */
  SchemaViolation at(int index) {
    return at("[" + index + ']');
  }

  /**
   * The refusal that says so.
   *
   * @param name what the whole is called; empty for a body
   */
  public ApiError refusal(String name) {
    String whole = name.isEmpty() ? path : at(name).path();
    return ApiError.of(
        ErrorCode.BAD_REQUEST, before + (whole.isEmpty() ? "body" : Text.shown(whole)) + after);
  }
}
