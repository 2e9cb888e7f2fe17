package dev.bourse.store;

import org.jspecify.annotations.Nullable;

/** The columns of a row whose names start with a prefix, without the prefix. */
record PrefixedRow(Row row, String prefix) implements Row {

  @Override
  public @Nullable String textOrNull(String column) {
    return row.textOrNull(prefix + column);
  }

  @Override
  public @Nullable Long integerOrNull(String column) {
    return row.integerOrNull(prefix + column);
  }

  @Override
  public byte @Nullable [] bytesOrNull(String column) {
    return row.bytesOrNull(prefix + column);
  }
}
