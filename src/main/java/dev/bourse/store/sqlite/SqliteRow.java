package dev.bourse.store.sqlite;

import dev.bourse.store.Row;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The current row of a result set. */
record SqliteRow(ResultSet result) implements Row {

  @Override
  public @Nullable String textOrNull(String column) {
    try {
      return result.getString(position(column));
    } catch (SQLException e) {
      throw unreadable(column, e);
    }
  }

  @Override
  public @Nullable Long integerOrNull(String column) {
    try {
      long integer = result.getLong(position(column));
      // The driver reads null as 0.
      return integer == 0 && result.wasNull() ? null : integer;
    } catch (SQLException e) {
      throw unreadable(column, e);
    }
  }

  @Override
  public byte @Nullable [] bytesOrNull(String column) {
    try {
      byte[] bytes = result.getBytes(position(column));
      // The engine has no address for zero bytes, so the driver reads them as null.
      return bytes == null && !result.wasNull() ? new byte[0] : bytes;
    } catch (SQLException e) {
      throw unreadable(column, e);
    }
  }

  /**
   * Returns the stored value without a conversion to the column's declared type.
   *
   * @param column the index, from 0
   */
  @Nullable Object value(int column) throws SQLException {
    Object value = result.getObject(column + 1);
    return value instanceof Integer number ? Long.valueOf(number) : value;
  }

  private int position(String column) {
    try {
      return result.findColumn(column);
    } catch (SQLException e) {
      throw new IllegalArgumentException("no column " + column, e);
    }
  }

  private static IllegalArgumentException unreadable(String column, SQLException e) {
    return new IllegalArgumentException("column " + column + " cannot be read", e);
  }
}
