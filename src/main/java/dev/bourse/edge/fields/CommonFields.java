package dev.bourse.edge.fields;

import dev.bourse.core.ApiError;
import dev.bourse.core.Page;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Parameters and fields that operations of several contracts have in common. */
public final class CommonFields {
  private CommonFields() {}

  /**
   * A price field in cents.
   *
   * @throws ApiError 422 when it is not a whole number of cents
   */
  public static long cents(JsonObject body, String field) {
    BigDecimal usd = new BigDecimal(body.getNumber(field).toString());
    if (!Price.isWholeCents(usd)) {
      throw ApiError.badField(field, usd.toPlainString(), "dollars with at most two decimals");
    }
    return Price.toCents(usd);
  }

  /**
   * Pages as answers spell them; {@code key} is the field of an item that the next begins after.
   */
  public static <T> Function<Page<T>, JsonObject> page(
      String plural, String key, Function<T, JsonObject> item) {
    return page -> page(plural, page, key, item);
  }

  /**
   * A page as answers spell it.
   *
   * @param key the field of an item after which the page behind it begins
   */
  public static <T> JsonObject page(
      String plural, Page<T> page, String key, Function<T, JsonObject> item) {
    JsonArray items = new JsonArray();
    page.items().forEach(each -> items.add(item.apply(each)));
    return new JsonObject()
        .put(plural, items)
        .put("more", page.more())
        .put("next", page.more() ? items.getJsonObject(items.size() - 1).getString(key) : null);
  }

  /** A token that was revoked. */
  public static JsonObject revoked(String tokenId, long atMillis) {
    return new JsonObject().put("token_id", tokenId).put("revoked_at", Times.rfc3339(atMillis));
  }

  /**
   * When a token is to expire, null for never.
   *
   * @throws ApiError {@code bad-request} for what is no RFC 3339 time, or none in the future
   */
  public static @Nullable Long expiry(@Nullable String expiresAt, long nowMillis) {
    if (expiresAt == null) {
      return null;
    }
    OptionalLong millis = Times.parse(expiresAt);
    if (millis.isEmpty() || millis.getAsLong() <= nowMillis) {
      throw ApiError.badField(
          "expires_at", expiresAt, "an RFC 3339 time in the future, such as 2030-01-31T00:00:00Z");
    }
    return millis.getAsLong();
  }
}
