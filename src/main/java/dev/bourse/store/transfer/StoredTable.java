package dev.bourse.store.transfer;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A table as the engine's catalogue tells it.
 *
 * @param columns by name, so that every engine has them in the same order
 * @param key the columns that order its rows: the primary key's, all columns when there is none
 */
public record StoredTable(String name, List<Column> columns, List<Column> key) {
  /** What a column holds. */
  public enum Kind {
    TEXT,
    INTEGER,
    BYTES;

    /** Whether a value, or null, is what such a column holds: String, Long or byte[]. */
    public boolean accepts(Object value) {
      return switch (this) {
        case TEXT -> value instanceof String;
        case INTEGER -> value instanceof Long;
        case BYTES -> value instanceof byte[];
      };
    }
  }

  /** A column that is stored; one the engine computes is not told. */
  public record Column(String name, Kind kind) {
    /** Its name as SQL. */
    public String quoted() {
      return StoredTable.quoted(name);
    }
  }

  public StoredTable {
    columns = List.copyOf(columns);
    key = List.copyOf(key);
  }

  /** Its name as SQL. */
  public String quoted() {
    return quoted(name);
  }

  /** A name as SQL, in either engine. */
  public static String quoted(String name) {
    return '"' + name.replace("\"", "\"\"") + '"';
  }

  /** Names as SQL, for a list of columns. */
  public static String names(List<Column> columns) {
    return columns.stream().map(Column::quoted).collect(Collectors.joining(", "));
  }
}
