package dev.bourse.edge;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.bourse.core.ApiError;
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
 * Reads a request body as RFC 8259 has it and no further: one value, UTF-8, no repeated key, no
 * NaN. What two parsers could read differently is refused rather than guessed.
 */
public final class StrictJson {
  /** No body of any contract nests deeper than 4; the rest is room. */
  private static final int MAX_DEPTH = 32;

  /** Longest number in characters, and largest power of ten: far over any price or count. */
  private static final int MAX_NUMBER = 64;

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNumberLength(MAX_NUMBER)
                  .build())
          .build();

  private StrictJson() {}

  /**
   * The value that these bytes are: JsonObject, JsonArray, String, Boolean, Integer, Long,
   * BigInteger, BigDecimal or null. A number that is whole, however written, is an integer.
   *
   * @throws ApiError {@code bad-request} when they are not one JSON value
   */
  public static @Nullable Object parse(byte[] bytes) {
    String text = decode(bytes);
    try (JsonParser parser = FACTORY.createParser(text)) {
      if (parser.nextToken() == null) {
        throw refused("empty; expected a JSON object");
      }
      Object value = value(parser);
      if (parser.nextToken() != null) {
        throw refused("something follows the JSON value at " + place(parser));
      }
      return value;
    } catch (JsonProcessingException e) {
      JsonLocation at = e.getLocation();
      throw refused(
          "not valid JSON"
              + (at == null ? "" : " at line " + at.getLineNr() + ", column " + at.getColumnNr())
              + ": "
              + Text.shown(e.getOriginalMessage()));
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

  private static @Nullable Object value(JsonParser parser) throws IOException {
    JsonToken token = parser.currentToken();
    return switch (token) {
      case START_OBJECT -> {
        JsonObject object = new JsonObject();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          String key = text(parser, parser.currentName());
          parser.nextToken();
          object.put(key, value(parser));
        }
        yield object;
      }
      case START_ARRAY -> {
        JsonArray array = new JsonArray();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          array.add(value(parser));
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
    // Read from the text: a huge exponent must be refused before anything expands it.
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
    if (!Percent.isStorable(text)) {
      throw refused("the text at " + place(parser) + " holds U+0000 or half a surrogate pair");
    }
    return text;
  }

  private static String place(JsonParser parser) {
    return "line "
        + parser.currentTokenLocation().getLineNr()
        + ", column "
        + parser.currentTokenLocation().getColumnNr();
  }

  private static ApiError refused(String why) {
    return ApiError.of(ErrorCode.BAD_REQUEST, "body: " + why);
  }
}
