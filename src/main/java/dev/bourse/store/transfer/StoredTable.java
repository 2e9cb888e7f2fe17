package dev.bourse.store.transfer;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A table in the engine's catalogue.
 *
 * @param columns columns by name, so that every engine has the same order
 * @param key the columns that order the rows: the primary key, or all columns if there is none
 */
public record StoredTable(String name, List<Column> columns, List<Column> key) {
  public enum Kind {
    TEXT,
    INTEGER,
    BYTES;

    /** Returns whether the column can hold a value: String, Long, byte[] or null. */
    public boolean accepts(Object value) {
      return switch (this) {
        case TEXT -> value instanceof String;
        case INTEGER -> value instanceof Long;
        case BYTES -> value instanceof byte[];
      };
    }
  }

  /** A stored column; computed columns are excluded. */
  public record Column(String name, Kind kind) {
    /** Returns its name, quoted for SQL. */
    public String quoted() {
      return StoredTable.quoted(name);
    }
  }

  public StoredTable {
    columns = List.copyOf(columns);
    key = List.copyOf(key);
  }

  /** Returns its name, quoted for SQL. */
  public String quoted() {
    return quoted(name);
  }

  /** Quotes a name for SQL, in either engine. */
  public static String quoted(String name) {
    return '"' + name.replace("\"", "\"\"") + '"';
  }

  /** Returns the quoted names of a list of columns. */
  public static String names(List<Column> columns) {
    return columns.stream().map(Column::quoted).collect(Collectors.joining(", "));
  }
}
