package dev.bourse.store.transfer;

import dev.bourse.store.StoreRefusedException;
import dev.bourse.store.transfer.StoredTable.Column;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Collects the contents of an engine's catalogue and orders the tables so that each comes after
 * those it refers to; otherwise by name, so that every engine has the same order.
 */
public final class Catalogue {
  /** The engine's own table, which is not moved: its digests are of this engine's texts. */
  public static final String MIGRATION = "migration";

  private final TreeMap<String, List<Column>> columns = new TreeMap<>();
  private final Map<String, TreeMap<Integer, String>> keys = new TreeMap<>();
  private final Map<String, Set<String>> references = new TreeMap<>();

  /**
   * Adds a column of the catalogue.
   *
   * @param type the engine's name of the type
   * @param keyPosition the column's position in the primary key from 1, or 0
   * @throws StoreRefusedException if an export cannot contain the type
   */
  public void addColumn(String table, String column, String type, int keyPosition) {
    columns.computeIfAbsent(table, t -> new ArrayList<>());
    columns.get(table).add(new Column(column, kind(table, column, type)));
    if (keyPosition > 0) {
      keys.computeIfAbsent(table, t -> new TreeMap<>()).put(keyPosition, column);
    }
  }

  public void addReference(String from, String to) {
    references.computeIfAbsent(from, t -> new TreeSet<>()).add(to);
  }

  private static StoredTable.Kind kind(String table, String column, String type) {
    return switch (type.toLowerCase(Locale.ROOT)) {
      case "text" -> StoredTable.Kind.TEXT;
      case "integer", "bigint" -> StoredTable.Kind.INTEGER;
      case "blob", "bytea" -> StoredTable.Kind.BYTES;
      default ->
          throw StoreRefusedException.of(
              "column %s of table %s has type %s; rows are moved as text, integers and bytes",
              column, table, type);
    };
  }

  /**
   * Returns the ordered tables, without {@link #MIGRATION}.
   *
   * @throws StoreRefusedException if tables refer to each other in a circle
   */
  public List<StoredTable> tables() {
    columns.remove(MIGRATION);
    List<StoredTable> ordered = new ArrayList<>();
    Set<String> placed = new TreeSet<>();
    while (placed.size() < columns.size()) {
      int before = placed.size();
      for (String name : columns.keySet()) {
        Set<String> wanted = new TreeSet<>(references.getOrDefault(name, Set.of()));
        wanted.removeAll(placed);
        // A row may refer to another row of its own table.
        wanted.remove(name);
        if (wanted.isEmpty() && placed.add(name)) {
          ordered.add(table(name));
        }
      }
      if (placed.size() == before) {
        Set<String> circle = new TreeSet<>(columns.keySet());
        circle.removeAll(placed);
        throw new StoreRefusedException("tables refer to each other in a circle: " + circle, null);
      }
    }
    return ordered;
  }

  private StoredTable table(String name) {
    List<Column> all = columns.getOrDefault(name, List.of());
    List<Column> key = new ArrayList<>();
    for (String column : keys.getOrDefault(name, new TreeMap<>()).values()) {
      all.stream().filter(c -> c.name().equals(column)).forEach(key::add);
    }
    List<Column> sorted = all.stream().sorted(Comparator.comparing(Column::name)).toList();
    return new StoredTable(name, sorted, key.isEmpty() ? sorted : key);
  }
}
