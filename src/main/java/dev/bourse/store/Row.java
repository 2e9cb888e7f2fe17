package dev.bourse.store;

import org.jspecify.annotations.Nullable;

/**
 * A row of a result. Columns are read by the names in the query ({@code AS} renames them). Valid
 * only inside the mapper that receives it. Every method fails with {@link IllegalArgumentException}
 * if the query has no such column.
 */
public interface Row {
  @Nullable String textOrNull(String column);

  @Nullable Long integerOrNull(String column);

  byte @Nullable [] bytesOrNull(String column);

  /** Returns the column's text; fails if it is null. */
  default String text(String column) {
    return present(column, textOrNull(column));
  }

  /** Returns the column's integer; fails if it is null. */
  default long integer(String column) {
    return present(column, integerOrNull(column));
  }

  /** Returns the column's integer, which must fit 32 bits; fails if it is null. */
  default int smallInteger(String column) {
    return Math.toIntExact(integer(column));
  }

  /** Returns the column's bytes; fails if it is null. */
  default byte[] bytes(String column) {
    return present(column, bytesOrNull(column));
  }

  /** Returns the column's truth value, which every engine stores as the integer 0 or 1. */
  default boolean truth(String column) {
    return integer(column) != 0;
  }

  /** Returns the column's enum constant, which is stored by its name; fails if it is null. */
  default <E extends Enum<E>> E value(Class<E> kind, String column) {
    return Enum.valueOf(kind, text(column));
  }

  /**
   * Returns the columns of one table in a join, by their own names.
   *
   * @param prefix the prefix of {@link Columns#names(String, String)}
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
