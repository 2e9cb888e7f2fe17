package dev.bourse.contract;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Reads the body of an HTML form, {@code application/x-www-form-urlencoded}: fields of text, each
 * once. What two parsers could read differently is refused rather than guessed.
 */
public final class Form {
  public static final String TYPE = "application/x-www-form-urlencoded";

  /** The longest form in bytes: a page's fields and an OAuth request fit several times. */
  public static final int MAX_BYTES = 16_384;

  private Form() {}

  /**
   * The fields, decoded once.
   *
   * @param known the names a contract lists
   * @param tolerant leaves out unknown fields and empty ones, as RFC 6749 (section 3.2) demands
   * @throws ApiError {@code bad-request} for what is not a form, and for a known field given twice
   */
  public static JsonObject parse(byte[] bytes, Set<String> known, boolean tolerant) {
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw ApiError.of(ErrorCode.BAD_REQUEST, "body: not valid UTF-8");
    }
    JsonObject fields = new JsonObject();
    Set<String> seen = new HashSet<>();
    for (String pair : text.split("&", -1)) {
      if (pair.isEmpty()) {
        continue;
      }
      int equals = pair.indexOf('=');
      String rawName = equals < 0 ? pair : pair.substring(0, equals);
      String rawValue = equals < 0 ? "" : pair.substring(equals + 1);
      Optional<String> name = Percent.decode(rawName, true).filter(Text::isStorable);
      if (tolerant && (name.isEmpty() || !known.contains(name.get()))) {
        continue;
      }
      String field = name.orElseThrow(() -> undecodable(rawName, rawName));
      String value =
          Percent.decode(rawValue, true)
              .filter(Text::isStorable)
              .orElseThrow(() -> undecodable(field, rawValue));
      if (!seen.add(field)) {
        throw ApiError.of(
            ErrorCode.BAD_REQUEST, "field '" + Text.shown(field) + "' is given twice");
      }
      if (!tolerant || !value.isEmpty()) {
        fields.put(field, value);
      }
    }
    return fields;
  }

  private static ApiError undecodable(String field, String raw) {
    return ApiError.badField(Text.shown(field), raw, "percent-encoded UTF-8 without U+0000");
  }
}
