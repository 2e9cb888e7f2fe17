package dev.bourse.store;

import org.jspecify.annotations.Nullable;

/**
 * One row of a result, read by the names its query gives the columns ({@code AS} gives another).
 * Only valid inside the mapper it is given to. Every method fails with an {@link
 * IllegalArgumentException} when the query has no such column.
 */
public interface Row {
  @Nullable String textOrNull(String column);

  @Nullable Long integerOrNull(String column);

  byte @Nullable [] bytesOrNull(String column);

  /** The column's text; fails when it is null. */
  default String text(String column) {
    return present(column, textOrNull(column));
  }

  /** The column's integer; fails when it is null. */
  default long integer(String column) {
    return present(column, integerOrNull(column));
  }

  /** The column's integer, which must fit 32 bits; fails when it is null. */
  default int smallInteger(String column) {
    return Math.toIntExact(integer(column));
  }

  /** The column's bytes; fails when it is null. */
  default byte[] bytes(String column) {
    return present(column, bytesOrNull(column));
  }

  /** Truth values are stored as the integers 0 and 1 on every engine. */
  default boolean truth(String column) {
    return integer(column) != 0;
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

  private static <T> T present(String column, @Nullable T value) {
    if (value == null) {
      throw new IllegalStateException("column " + column + " is null");
    }
    return value;
  }
}
