package dev.bourse.operator;

import dev.bourse.core.ApiError;
import dev.bourse.core.Price;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.Optional;

/** Fields that several operations of the contract have, as values. */
final class Fields {
  /** Items of a page when the call does not say. */
  private static final long DEFAULT_LIMIT = 100;

  private Fields() {}

  /** How many items a page is to have, given the parameter. */
  static int limit(Optional<Long> sent) {
    return Math.toIntExact(sent.orElse(DEFAULT_LIMIT));
  }

  /**
   * A price field in cents.
   *
   * @throws ApiError 422 when it is no whole number of cents
   */
  static long cents(JsonObject body, String field) {
    BigDecimal usd = new BigDecimal(body.getNumber(field).toString());
    if (!Price.isWholeCents(usd)) {
      throw ApiError.badField(field, usd.toPlainString(), "dollars with at most two decimals");
    }
    return Price.toCents(usd);
  }
}
