package dev.bourse.store.sqlite;

import dev.bourse.store.Row;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The row a result set stands on. */
final class SqliteRow implements Row {
  private final ResultSet result;

  SqliteRow(ResultSet result) {
    this.result = result;
  }

  @Override
  public int position(String column) {
    try {
      return result.findColumn(column) - 1;
    } catch (SQLException e) {
      throw new IllegalArgumentException("no column " + column, e);
    }
  }

  @Override
  public String text(int column) {
    String text = textOrNull(column);
    if (text == null) {
      throw isNull(column);
    }
    return text;
  }

  @Override
  public @Nullable String textOrNull(int column) {
    try {
      return result.getString(column + 1);
    } catch (SQLException e) {
      throw unreadable(column, e);
    }
  }

  @Override
  public long integer(int column) {
    Long integer = integerOrNull(column);
    if (integer == null) {
      throw isNull(column);
    }
    return integer;
  }

  @Override
  public @Nullable Long integerOrNull(int column) {
    try {
      long integer = result.getLong(column + 1);
      // The driver reads null as 0.
      return integer == 0 && result.wasNull() ? null : integer;
    } catch (SQLException e) {
      throw unreadable(column, e);
    }
  }

  @Override
  public byte[] bytes(int column) {
    try {
      byte[] bytes = result.getBytes(column + 1);
      if (bytes != null) {
        return bytes;
      }
      // The engine has no address for zero bytes, which the driver reads as null.
      if (result.wasNull()) {
        throw isNull(column);
      }
      return new byte[0];
    } catch (SQLException e) {
      throw unreadable(column, e);
    }
  }

  /** The value as it is stored, whatever its column was declared to hold. */
  @Nullable Object value(int column) throws SQLException {
    Object value = result.getObject(column + 1);
    return value instanceof Integer number ? Long.valueOf(number) : value;
  }

  private static IllegalStateException isNull(int column) {
    return new IllegalStateException("column " + column + " is null");
  }

  private static IllegalArgumentException unreadable(int column, SQLException e) {
    return new IllegalArgumentException("column " + column + " cannot be read", e);
  }
}
