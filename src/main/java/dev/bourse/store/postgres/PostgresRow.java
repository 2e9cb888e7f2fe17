package dev.bourse.store.postgres;

import dev.bourse.store.Row;
import io.vertx.core.buffer.Buffer;
import org.jspecify.annotations.Nullable;

/** A row of the engine's client. Sums come as decimals and comparisons as truth values. */
record PostgresRow(io.vertx.sqlclient.Row row) implements Row {

  @Override
  public int position(String column) {
    int position = row.getColumnIndex(column);
    if (position < 0) {
      throw new IllegalArgumentException("no column " + column);
    }
    return position;
  }

  @Override
  public String text(int column) {
    return present(column, textOrNull(column));
  }

  @Override
  public @Nullable String textOrNull(int column) {
    Object value = row.getValue(column);
    if (value == null || value instanceof String) {
      return (String) value;
    }
    throw unreadable(column, value, "text");
  }

  @Override
  public long integer(int column) {
    return present(column, integerOrNull(column));
  }

  @Override
  public @Nullable Long integerOrNull(int column) {
    Object value = row.getValue(column);
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
  public byte[] bytes(int column) {
    Object value = present(column, row.getValue(column));
    if (value instanceof Buffer buffer) {
      return buffer.getBytes();
    }
    throw unreadable(column, value, "bytes");
  }

  private static <T> T present(int column, @Nullable T value) {
    if (value == null) {
      throw new IllegalStateException("column " + column + " is null");
    }
    return value;
  }

  private static IllegalArgumentException unreadable(int column, Object value, String wanted) {
    return new IllegalArgumentException(
        "column " + column + " holds " + value.getClass().getSimpleName() + ", not " + wanted);
  }
}
