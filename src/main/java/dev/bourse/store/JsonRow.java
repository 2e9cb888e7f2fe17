package dev.bourse.store;

import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/** A row from JSON that {@link Columns#writeJson} wrote. It cannot contain bytes. */
public record JsonRow(JsonObject json) implements Row {

  @Override
  public @Nullable String textOrNull(String column) {
    Object value = value(column);
    if (value == null || value instanceof String) {
      return (String) value;
    }
    throw unreadable(column, value, "text");
  }

  @Override
  public @Nullable Long integerOrNull(String column) {
    Object value = value(column);
    if (value == null) {
      return null;
    }
    if (value instanceof Integer || value instanceof Long) {
      return ((Number) value).longValue();
    }
    if (value instanceof Boolean truth) {
      return truth ? 1L : 0L;
    }
    throw unreadable(column, value, "an integer");
  }

  @Override
  public byte @Nullable [] bytesOrNull(String column) {
    throw unreadable(column, String.valueOf(value(column)), "bytes");
  }

  private @Nullable Object value(String column) {
    if (!json.containsKey(column)) {
      throw new IllegalArgumentException("no column " + column);
    }
    return json.getValue(column);
  }

  private static IllegalArgumentException unreadable(String column, Object value, String wanted) {
    return new IllegalArgumentException(
        "column " + column + " holds " + value.getClass().getSimpleName() + ", not " + wanted);
  }
}
