package dev.bourse.delivery;

import dev.bourse.core.Times;
import dev.bourse.store.Row;
import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * The attempts at an item so far.
 *
 * @param nextAtMillis earliest time of the next attempt
 * @param firstAtMillis time of the first attempt at the receiver's current address; null before it
 * @param lastAtMillis time of the last attempt; null before the first
 * @param status of the last answer; null if there was none
 * @param fault of the last attempt; null if it succeeded
 */
public record AttemptHistory(
    long nextAtMillis,
    int tries,
    @Nullable Long firstAtMillis,
    @Nullable Long lastAtMillis,
    @Nullable Integer status,
    @Nullable String fault) {

  /** An item without attempts. */
  public static AttemptHistory none(long nextAtMillis) {
    return new AttemptHistory(nextAtMillis, 0, null, null, null, null);
  }

  /**
   * Reads the columns {@code tries}, {@code first_try_at}, {@code last_try_at}, {@code status},
   * {@code fault} and the time of the next attempt.
   *
   * @param nextAt the column of the time of the next attempt
   */
  public static AttemptHistory read(Row row, String nextAt) {
    Long status = row.integerOrNull("status");
    return new AttemptHistory(
        row.integer(nextAt),
        row.smallInteger("tries"),
        row.integerOrNull("first_try_at"),
        row.integerOrNull("last_try_at"),
        status == null ? null : Math.toIntExact(status),
        row.textOrNull("fault"));
  }

  /**
   * Adds the fields that members see.
   *
   * @param isWaiting whether another attempt follows
   */
  public JsonObject putInto(JsonObject json, boolean isWaiting) {
    return json.put("attempts", tries)
        .put("last_attempt_at", Times.rfc3339OrNull(lastAtMillis))
        .put("next_attempt_at", isWaiting ? Times.rfc3339(nextAtMillis) : null)
        .put("response_status", status)
        .put("fault", fault);
  }
}
