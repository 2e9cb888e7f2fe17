package dev.bourse.store;

import org.jspecify.annotations.Nullable;

/**
 * One row of a result, read by the names its query gives the columns ({@code AS} gives another).
 * Only valid inside the mapper it is given to.
 */
public interface Row {
  /**
   * Where a column stands, from 0.
   *
   * @throws IllegalArgumentException when the query has no such column
   */
  int position(String column);

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

  /** The column's text; fails when it is null. */
  default String text(String column) {
    return text(position(column));
  }

  default @Nullable String textOrNull(String column) {
    return textOrNull(position(column));
  }

  /** The column's integer; fails when it is null. */
  default long integer(String column) {
    return integer(position(column));
  }

  /** The column's integer, which must fit 32 bits; fails when it is null. */
  default int smallInteger(String column) {
    return Math.toIntExact(integer(column));
  }

  default @Nullable Long integerOrNull(String column) {
    return integerOrNull(position(column));
  }

  /** The column's bytes; fails when it is null. */
  default byte[] bytes(String column) {
    return bytes(position(column));
  }

  /** Truth values are stored as the integers 0 and 1 on every engine. */
  default boolean truth(String column) {
    return truth(position(column));
  }

  /** The column's value of an enumeration, which is stored by its name; fails when it is null. */
  default <E extends Enum<E>> E value(Class<E> kind, String column) {
    return Enum.valueOf(kind, text(column));
  }

  /**
   * The columns of one table in a join, by their own names.
   *
   * @param prefix what {@link Columns#names(String, String)} set before them
   */
  default Row of(String prefix) {
    return new PrefixedRow(this, prefix);
  }
}
