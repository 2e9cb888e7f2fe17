package dev.bourse.store;

import org.jspecify.annotations.Nullable;

/** One row of a result, by column position from 0. Only valid inside the mapper it is given to. */
public interface Row {
  /** The column's text; fails when it is null. */
  String text(int column);

  @Nullable String textOrNull(int column);

  /** The column's integer; fails when it is null. */
  long integer(int column);

  @Nullable Long integerOrNull(int column);

  /** The column's bytes; fails when it is null. */
  byte[] bytes(int column);

  /** Truth values are stored as the integers 0 and 1 on every engine. */
  default boolean truth(int column) {
    return integer(column) != 0;
  }
}
