package dev.bourse.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads a request body strictly by RFC 8259: one value, UTF-8, no repeated key, no NaN. Input that
 * two parsers could read differently is refused rather than guessed.
 */
public final class StrictJson {
  /** Bodies of the contracts nest at most 4 levels; the rest is reserve. */
  private static final int MAX_DEPTH = 32;

  /** Longest number in characters, and largest power of ten: far beyond any price or count. */
  private static final int MAX_NUMBER = 64;

  /**
   * Longest name of a field: the contracts' have some 30 characters, and callers name variables.
   */
  private static final int MAX_NAME = 1_024;

  /**
   * Most values in one body, at all levels: twice the 4,096 items of the longest array of any
   * contract. A megabyte could hold half a million.
   */
  static final int MAX_VALUES = 8_192;

  /**
   * Most values in the body of an operation with a raised limit: four for each of a set's 4,096
   * files (the file and its three fields), and reserve.
   */
  public static final int MANY_VALUES = 20_480;

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          // Callers choose the names, so none may stay in a table that all event loops share.
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNumberLength(MAX_NUMBER)
                  .maxNameLength(MAX_NAME)
                  .build())
          .build();

  private final JsonParser parser;
  private final int maxValues;
  private int values;

  private StrictJson(JsonParser parser, int maxValues) {
    this.parser = parser;
    this.maxValues = maxValues;
  }

  /**
   * Parses the bytes into a JsonObject, JsonArray, String, Boolean, Integer, Long, BigInteger,
   * BigDecimal or null. A whole number, in any notation, becomes an integer.
   *
   * @throws ApiException {@code bad-request} if the bytes are not exactly one JSON value
   */
  public static @Nullable Object parse(byte[] bytes) {
    return parse(bytes, MAX_VALUES);
  }

  /**
   * Like {@link #parse(byte[])}, with another maximum.
   *
   * @param maxValues the most values at all levels
   */
  public static @Nullable Object parse(byte[] bytes, int maxValues) {
    String text = decode(bytes);
    try (JsonParser parser = FACTORY.createParser(text)) {
      if (parser.nextToken() == null) {
        throw refused("empty; expected a JSON object");
      }
      Object value = new StrictJson(parser, maxValues).value(0);
      if (parser.nextToken() != null) {
        throw refused("something follows the JSON value at " + place(parser));
      }
      return value;
    } catch (StreamConstraintsException e) {
      throw refused(
          "a number of more than %s characters, or a name of more than %s"
              .formatted(MAX_NUMBER, MAX_NAME));
    } catch (JsonProcessingException e) {
      JsonLocation at = e.getLocation();
      throw refused(
          "not valid JSON%s: %s"
              .formatted(at == null ? "" : " at " + place(at), Text.shown(e.getOriginalMessage())));
    } catch (IOException e) {
      throw new IllegalStateException("reading from memory failed", e);
    }
  }

  private static String decode(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw refused("not valid UTF-8");
    }
  }

  private @Nullable Object value(int depth) throws IOException {
    if (++values > maxValues) {
      throw refused("more than " + maxValues + " values; expected fewer");
    }
    JsonToken token = parser.currentToken();
    if (token.isStructStart() && depth == MAX_DEPTH) {
      throw refused("nests deeper than " + MAX_DEPTH + " levels at " + place(parser));
    }
    return switch (token) {
      case START_OBJECT -> {
        JsonObject object = new JsonObject();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          String key = text(parser, parser.currentName());
          parser.nextToken();
          object.put(key, value(depth + 1));
        }
        yield object;
      }
      case START_ARRAY -> {
        JsonArray array = new JsonArray();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          array.add(value(depth + 1));
        }
        yield array;
      }
      case VALUE_STRING -> text(parser, parser.getText());
      case VALUE_NUMBER_INT -> parser.getNumberValue();
      case VALUE_NUMBER_FLOAT -> decimal(parser);
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> throw new IllegalStateException("unexpected token " + token);
    };
  }

  private static Number decimal(JsonParser parser) throws IOException {
    // Parsed from the text, because a huge exponent must be refused before anything expands it.
    BigDecimal number;
    try {
      number = new BigDecimal(parser.getText());
    } catch (NumberFormatException exponentBeyondInt) {
      throw refused("the number at " + place(parser) + " is out of range");
    }
    if (Math.abs((long) number.precision() - number.scale()) > MAX_NUMBER
        || Math.abs((long) number.scale()) > MAX_NUMBER) {
      throw refused("the number at " + place(parser) + " is out of range");
    }
    BigDecimal plain = number.stripTrailingZeros();
    if (plain.scale() > 0) {
      return number;
    }
    return plain.precision() - plain.scale() <= 18
        ? (Number) plain.longValueExact()
        : plain.toBigIntegerExact();
  }

  private static String text(JsonParser parser, String text) {
    if (!Text.isStorable(text)) {
      throw refused("the text at " + place(parser) + " holds U+0000 or half a surrogate pair");
    }
    return text;
  }

  private static String place(JsonParser parser) {
    return place(parser.currentTokenLocation());
  }

  private static String place(JsonLocation at) {
    return "line %s, column %s".formatted(at.getLineNr(), at.getColumnNr());
  }

  private static ApiException refused(String why) {
    return ApiException.of(ErrorCode.BAD_REQUEST, "body: " + why);
  }
}
