package dev.bourse.contract;

import dev.bourse.core.ApiException;
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
 * Reads the body of an HTML form, {@code application/x-www-form-urlencoded}: text fields, each at
 * most once. Input that two parsers could read differently is refused rather than guessed.
 */
public final class Form {
  public static final String TYPE = "application/x-www-form-urlencoded";

  /** The longest form in bytes: several times the fields of a page or an OAuth request. */
  public static final int MAX_BYTES = 16_384;

  private Form() {}

  /**
   * Returns the fields, decoded once.
   *
   * @param known the field names of the contract
   * @param tolerant leaves out unknown and empty fields, as RFC 6749 (section 3.2) demands
   * @throws ApiException {@code bad-request} if the body is not a form, or a known field is given
   *     twice
   */
  public static JsonObject parse(byte[] bytes, Set<String> known, boolean tolerant) {
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw ApiException.of(ErrorCode.BAD_REQUEST, "body: not valid UTF-8");
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
      Optional<String> name = PercentEncoding.decode(rawName, true).filter(Text::isStorable);
      if (tolerant && (name.isEmpty() || !known.contains(name.get()))) {
        continue;
      }
      String field = name.orElseThrow(() -> undecodable(rawName, rawName));
      String value =
          PercentEncoding.decode(rawValue, true)
              .filter(Text::isStorable)
              .orElseThrow(() -> undecodable(field, rawValue));
      if (!seen.add(field)) {
        throw ApiException.of(
            ErrorCode.BAD_REQUEST, "field '" + Text.shown(field) + "' is given twice");
      }
      if (!tolerant || !value.isEmpty()) {
        fields.put(field, value);
      }
    }
    return fields;
  }

  private static ApiException undecodable(String field, String raw) {
    return ApiException.badField(Text.shown(field), raw, "percent-encoded UTF-8 without U+0000");
  }
}
