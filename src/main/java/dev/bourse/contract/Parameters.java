package dev.bourse.contract;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.common.dsl.SchemaType;
import io.vertx.openapi.contract.Location;
import io.vertx.openapi.contract.Parameter;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the path and query parameters of one operation. */
public final class Parameters {
  private static final Pattern INTEGER = Pattern.compile("-?\\d+");

  /** A number as JSON writes it; leading zeros are allowed. */
  private static final Pattern DECIMAL = Pattern.compile("-?\\d+(\\.\\d+)?([eE][+-]?\\d+)?");

  /**
   * A parameter of the query or the path.
   *
   * @param preset the contract's default; null if it has none
   * @param segment the index of its segment in the path, or -1
   */
  private record Input(
      String name,
      SchemaType type,
      boolean required,
      @Nullable Object preset,
      int segment,
      SchemaValidator shape) {}

  private final List<Input> pathInputs = new ArrayList<>();
  private final Map<String, Input> queryInputs = new LinkedHashMap<>();
  private final boolean isTolerant;

  /**
   * @param isTolerant whether unknown and empty query parameters are ignored rather than refused
   */
  public Parameters(io.vertx.openapi.contract.Operation model, boolean isTolerant) {
    this.isTolerant = isTolerant;
    List<String> segments = List.of(model.getAbsoluteOpenAPIPath().split("/", -1));
    for (Parameter parameter : model.getParameters()) {
      if (parameter.getIn() == Location.HEADER) {
        // Operations read headers themselves; headers are text and never refused.
        continue;
      }
      JsonObject schema = parameter.getOpenAPIModel().getJsonObject("schema");
      Input input =
          new Input(
              parameter.getName(),
              parameter.getSchemaType(),
              parameter.isRequired(),
              preset(parameter.getSchemaType(), schema.getValue("default")),
              segments.indexOf('{' + parameter.getName() + '}'),
              new SchemaValidator(schema));
      if (parameter.getIn() == Location.PATH) {
        pathInputs.add(input);
      } else {
        queryInputs.put(input.name(), input);
      }
    }
  }

  private static @Nullable Object preset(SchemaType type, @Nullable Object value) {
    return switch (type) {
      case INTEGER -> value instanceof Number number ? number.longValue() : null;
      case NUMBER -> value instanceof Number number ? number.doubleValue() : null;
      default -> value;
    };
  }

  /**
   * Returns the parameters of a request, decoded once, as String, Long or Double. Missing ones get
   * the contract's default, if there is one.
   *
   * @throws ApiException {@code bad-request} naming the first parameter at fault
   */
  public Map<String, Object> read(String path, @Nullable String query) {
    if (pathInputs.isEmpty() && queryInputs.isEmpty() && query == null) {
      return Map.of();
    }
    Map<String, Object> values = new HashMap<>();
    if (!pathInputs.isEmpty()) {
      String[] segments = path.split("/", -1);
      for (Input input : pathInputs) {
        values.put(input.name(), typed(input, segments[input.segment()], false));
      }
    }
    if (query != null) {
      readQuery(query, values);
    }
    for (Input input : queryInputs.values()) {
      if (input.preset() != null) {
        values.putIfAbsent(input.name(), input.preset());
      } else if (input.required() && !values.containsKey(input.name())) {
        throw ApiException.of(
            ErrorCode.BAD_REQUEST, "query parameter '" + input.name() + "' is missing");
      }
    }
    return values;
  }

  private void readQuery(String query, Map<String, Object> values) {
    int start = 0;
    while (start <= query.length()) {
      int end = query.indexOf('&', start);
      end = end < 0 ? query.length() : end;
      if (end > start) {
        int equals = query.indexOf('=', start);
        boolean bare = equals < 0 || equals > end;
        String raw = query.substring(start, bare ? end : equals);
        Input input = queryInputs.get(PercentEncoding.decode(raw, true).orElse(raw));
        if (isTolerant && (input == null || bare || equals + 1 == end)) {
          // RFC 6749, section 3.1: unknown and empty parameters count as missing.
          start = end + 1;
          continue;
        }
        if (input == null) {
          throw ApiException.of(
              ErrorCode.BAD_REQUEST,
              "unknown query parameter '%s'; this operation takes %s",
              Text.shown(raw),
              queryInputs.isEmpty() ? "none" : String.join(", ", queryInputs.keySet()));
        }
        Object value = typed(input, bare ? "" : query.substring(equals + 1, end), true);
        if (values.put(input.name(), value) != null) {
          throw ApiException.of(
              ErrorCode.BAD_REQUEST, "query parameter '" + input.name() + "' is given twice");
        }
      }
      start = end + 1;
    }
  }

  private static Object typed(Input input, String raw, boolean plusIsSpace) {
    Optional<String> decoded = PercentEncoding.decode(raw, plusIsSpace);
    String text =
        decoded.orElseThrow(
            () -> ApiException.badField(input.name(), raw, "percent-encoded UTF-8 without U+0000"));
    Object value =
        switch (input.type()) {
          case INTEGER -> INTEGER.matcher(text).matches() ? nearest(text) : null;
          case NUMBER -> DECIMAL.matcher(text).matches() ? finite(text) : null;
          default -> text;
        };
    if (value == null) {
      throw ApiException.badField(input.name(), text, input.shape().wanted());
    }
    try {
      input.shape().check(input.name(), value);
    } catch (ApiException e) {
      // The error shows the value that was sent rather than the bound it was clamped to.
      throw value.toString().equals(text) || !(value instanceof Long)
          ? e
          : ApiException.badField(input.name(), text, input.shape().wanted());
    }
    return value;
  }

  /**
   * A number clamped to the range of a double, because a number with many digits is still a number.
   */
  private static Double finite(String text) {
    double value = Double.parseDouble(text);
    return Math.max(-Double.MAX_VALUE, Math.min(Double.MAX_VALUE, value));
  }

  /**
   * A whole number clamped to the range of a long, because a number with many digits is still a
   * number.
   */
  private static Long nearest(String text) {
    return text.length() <= 18
        ? Long.valueOf(text)
        : Long.valueOf(
            new BigInteger(text)
                .max(BigInteger.valueOf(Long.MIN_VALUE))
                .min(BigInteger.valueOf(Long.MAX_VALUE))
                .longValueExact());
  }
}
