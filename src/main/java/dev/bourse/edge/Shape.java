package dev.bourse.edge;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.OutputUnit;
import io.vertx.json.schema.Validator;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A schema of a contract, compiled, and how to say what a value lacks.
 *
 * <p>Belongs to one event loop: the library rewrites pieces of a schema the first time it validates
 * with them.
 */
public final class Shape {
  /** Keywords that only report that something beneath them failed. */
  private static final Set<String> CARRIERS = Set.of("properties", "items", "$ref");

  private static final JsonSchemaOptions OPTIONS =
      new JsonSchemaOptions()
          .setDraft(Draft.DRAFT202012)
          .setBaseUri("app://bourse")
          .setOutputFormat(OutputFormat.Basic);

  private final JsonObject schema;
  private final Validator validator;
  private final PlainFit plain;

  /** Compiles a schema that holds no {@code $ref}. */
  public Shape(JsonObject schema) {
    this.schema = schema.copy();
    this.validator = Validator.create(JsonSchema.of(schema.copy()), OPTIONS);
    this.plain = new PlainFit(schema);
  }

  /**
   * Accepts a value or says what is wrong with it.
   *
   * @param name what the whole value is called: a parameter's name, or empty for a body, whose
   *     fields go by their own
   * @throws ApiError {@code bad-request} naming the first field at fault, its value and what would
   *     be accepted
   */
  public void check(String name, @Nullable Object value) {
    if (plain.accepts(value)) {
      return;
    }
    OutputUnit outcome = validator.validate(value);
    if (Boolean.TRUE.equals(outcome.getValid())) {
      return;
    }
    List<OutputUnit> errors = outcome.getErrors();
    for (OutputUnit error : errors == null ? List.<OutputUnit>of() : errors) {
      ApiError refusal = refusal(name, value, error);
      if (refusal != null) {
        throw refusal;
      }
    }
    throw ApiError.badField(name.isEmpty() ? "body" : name, value, expected(schema));
  }

  private @Nullable ApiError refusal(String name, @Nullable Object whole, OutputUnit error) {
    List<String> schemaPath = pointer(error.getKeywordLocation());
    String keyword = schemaPath.isEmpty() ? "" : schemaPath.get(schemaPath.size() - 1);
    if (CARRIERS.contains(keyword)) {
      return null;
    }
    JsonObject piece = piece(schemaPath.subList(0, Math.max(0, schemaPath.size() - 1)));
    List<String> valuePath = pointer(error.getInstanceLocation());
    if (keyword.equals("additionalProperties")) {
      String unknown = valuePath.isEmpty() ? "" : valuePath.get(valuePath.size() - 1);
      JsonObject known = piece.getJsonObject("properties", new JsonObject());
      // The library also reports declared fields here when their value fails.
      return known.containsKey(unknown)
              || piece.getValue("additionalProperties") instanceof JsonObject
          ? null
          : ApiError.of(
              ErrorCode.BAD_REQUEST,
              "unknown field '"
                  + Text.shown(shownPath(name, valuePath))
                  + "'; expected only "
                  + String.join(", ", known.fieldNames()));
    }
    Object at = at(whole, valuePath);
    String field = Text.shown(shownPath(name, valuePath));
    if (keyword.equals("required") && at instanceof JsonObject object) {
      return missing(field, object, piece);
    }
    return ApiError.badField(field.isEmpty() ? "body" : field, at, expected(piece));
  }

  private static @Nullable ApiError missing(String parent, JsonObject object, JsonObject piece) {
    for (Object required : piece.getJsonArray("required")) {
      String name = String.valueOf(required);
      if (!object.containsKey(name)) {
        JsonObject wanted = piece.getJsonObject("properties").getJsonObject(name);
        return ApiError.of(
            ErrorCode.BAD_REQUEST,
            (parent.isEmpty() ? name : parent + '.' + name)
                + " is missing; expected "
                + expected(wanted));
      }
    }
    return null;
  }

  /** What a piece of schema accepts, in words. */
  static String expected(JsonObject piece) {
    JsonArray values = piece.getJsonArray("enum");
    if (values != null) {
      return "one of " + values.stream().map(String::valueOf).collect(Collectors.joining(", "));
    }
    if (piece.getValue("type") instanceof JsonArray types) {
      return types.stream()
          .map(type -> "null".equals(type) ? "null" : expected(piece.copy().put("type", type)))
          .collect(Collectors.joining(" or "));
    }
    return switch (piece.getString("type", "")) {
      case "integer" -> "an integer" + range(piece, "minimum", "maximum", "");
      case "number" -> "a number" + range(piece, "minimum", "maximum", "");
      case "string" ->
          "a string"
              + range(piece, "minLength", "maxLength", " characters")
              + (piece.containsKey("pattern") ? " matching " + piece.getString("pattern") : "");
      case "array" ->
          "an array"
              + range(piece, "minItems", "maxItems", " items")
              + (piece.containsKey("items")
                  ? ", each " + expected(piece.getJsonObject("items"))
                  : "");
      case "boolean" -> "true or false";
      case "object" -> "a JSON object";
      default -> "a value as the contract describes it";
    };
  }

  private static String range(JsonObject piece, String least, String most, String unit) {
    Object low = piece.getValue(least);
    Object high = piece.getValue(most);
    if (low != null && high != null) {
      return (unit.isEmpty() ? " from " : " of ") + low + " to " + high + unit;
    }
    if (low != null) {
      return " of at least " + low + unit;
    }
    return high == null ? "" : " of at most " + high + unit;
  }

  private JsonObject piece(List<String> path) {
    Object at = at(schema, path);
    return at instanceof JsonObject object ? object : schema;
  }

  private static @Nullable Object at(@Nullable Object root, List<String> path) {
    Object at = root;
    for (String step : path) {
      if (at instanceof JsonObject object) {
        at = object.getValue(step);
      } else if (at instanceof JsonArray array) {
        at = array.getValue(Integer.parseInt(step));
      } else {
        return null;
      }
    }
    return at;
  }

  private static String shownPath(String name, List<String> path) {
    StringBuilder shown = new StringBuilder(name);
    for (String step : path) {
      if (!step.isEmpty() && step.chars().allMatch(c -> c >= '0' && c <= '9')) {
        shown.append('[').append(step).append(']');
      } else {
        shown.append(shown.length() == 0 ? "" : ".").append(step);
      }
    }
    return shown.toString();
  }

  /** The steps of a JSON pointer (RFC 6901) in the library's {@code #/a/b} form. */
  private static List<String> pointer(String location) {
    List<String> steps = new ArrayList<>();
    int start = location.indexOf('/');
    while (start >= 0) {
      int end = location.indexOf('/', start + 1);
      String step = end < 0 ? location.substring(start + 1) : location.substring(start + 1, end);
      steps.add(step.replace("~1", "/").replace("~0", "~"));
      start = end;
    }
    return steps;
  }
}
