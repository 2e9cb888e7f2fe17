package dev.bourse.store;

import org.jspecify.annotations.Nullable;

/** Those columns of a row whose names begin alike, without that beginning. */
record PrefixedRow(Row row, String prefix) implements Row {

  @Override
  public int position(String column) {
    return row.position(prefix + column);
  }

  @Override
  public String text(int column) {
    return row.text(column);
  }

  @Override
  public @Nullable String textOrNull(int column) {
    return row.textOrNull(column);
  }

  @Override
  public long integer(int column) {
    return row.integer(column);
  }

  @Override
  public @Nullable Long integerOrNull(int column) {
    return row.integerOrNull(column);
  }

  @Override
  public byte[] bytes(int column) {
    return row.bytes(column);
  }
}
