package dev.bourse.edge.fields;

import dev.bourse.core.ApiException;
import dev.bourse.core.Page;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Parameters and fields of several contracts' operations. */
public final class CommonFields {
  private CommonFields() {}

  /**
   * Parses a price field in cents.
   *
   * @throws ApiException 422 if it is not a whole number of cents
   */
  public static long cents(String field, BigDecimal usd) {
    if (!Price.isWholeCents(usd)) {
      throw ApiException.badField(field, usd.toPlainString(), "dollars with at most two decimals");
    }
    return Price.toCents(usd);
  }

  /**
   * Returns a converter of pages to JSON; {@code key} is the field of an item after which the next
   * page begins.
   */
  public static <T> Function<Page<T>, JsonObject> page(
      String plural, String key, Function<T, JsonObject> item) {
    return page -> page(plural, page, key, item);
  }

  /**
   * Converts a page to JSON.
   *
   * @param key the field of an item after which the next page begins
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

  /**
   * Parses the expiry of a token, null for never.
   *
   * @throws ApiException {@code bad-request} if it is not an RFC 3339 time in the future
   */
  public static @Nullable Long expiry(@Nullable String expiresAt, long nowMillis) {
    if (expiresAt == null) {
      return null;
    }
    OptionalLong millis = Times.parse(expiresAt);
    if (millis.isEmpty() || millis.getAsLong() <= nowMillis) {
      throw ApiException.badField(
          "expires_at", expiresAt, "an RFC 3339 time in the future, such as 2030-01-31T00:00:00Z");
    }
    return millis.getAsLong();
  }
}
