package dev.bourse.store.postgres;

import dev.bourse.store.Row;
import io.vertx.core.buffer.Buffer;
import org.jspecify.annotations.Nullable;

/** A row of the engine's client, which returns sums as decimals and comparisons as truth values. */
record PostgresRow(io.vertx.sqlclient.Row row) implements Row {

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
    if (value instanceof Number number) {
      return number.longValue();
    }
    if (value instanceof Boolean truth) {
      return truth ? 1L : 0L;
    }
    throw unreadable(column, value, "an integer");
  }

  @Override
  public byte @Nullable [] bytesOrNull(String column) {
    Object value = value(column);
    if (value == null) {
      return null;
    }
    if (value instanceof Buffer buffer) {
      return buffer.getBytes();
    }
    throw unreadable(column, value, "bytes");
  }

  private @Nullable Object value(String column) {
    int position = row.getColumnIndex(column);
    if (position < 0) {
      throw new IllegalArgumentException("no column " + column);
    }
    return row.getValue(position);
  }

  private static IllegalArgumentException unreadable(String column, Object value, String wanted) {
    return new IllegalArgumentException(
        "column " + column + " holds " + value.getClass().getSimpleName() + ", not " + wanted);
  }
}
