package dev.bourse.store.transfer;

import dev.bourse.store.StoreRefusedException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Fills an empty store from an export, completely or not at all. */
public final class ExportLoader {
  /** Rows per statement: enough to make its overhead negligible, few enough to hold in memory. */
  private static final int BATCH_ROWS = 1_000;

  /** Roughly bounds the memory of a batch of long rows: characters and bytes of its values. */
  private static final long BATCH_SIZE = 4 << 20;

  private final WholeStore store;
  private final ExportReader reader;
  private final RowProgress progress;

  private ExportLoader(WholeStore store, ExportReader reader, RowProgress progress) {
    this.store = store;
    this.reader = reader;
    this.progress = progress;
  }

  /**
   * Migrates the store and fills it, in one transaction.
   *
   * @param store a store opened to fill
   * @return the tables' sums from the file
   * @throws StoreRefusedException if the store has rows, or another version than the file
   * @throws InvalidExportException if the file is incomplete or altered, or has other tables than
   *     this store
   */
  public static List<TableSum> load(WholeStore store, ExportReader reader, RowProgress progress)
      throws IOException {
    if (reader.version() != store.programVersion()) {
      throw reader.fault(
          """
          is of schema version %s, this program's is %s; export with this program from a \
          store it has migrated\
          """
              .formatted(reader.version(), store.programVersion()));
    }
    List<String> filled = new ArrayList<>();
    store.pending();
    for (StoredTable table : store.tables()) {
      long rows = store.count(table);
      if (rows > 0) {
        filled.add(table.name() + " " + rows);
      }
    }
    if (!filled.isEmpty()) {
      throw StoreRefusedException.of(
          "the store %s is not empty; rows: %s. Import into a new one.",
          store.place(), String.join(", ", filled));
    }
    store.migrate();
    return new ExportLoader(store, reader, progress).load();
  }

  private List<TableSum> load() throws IOException {
    Map<String, StoredTable> tables = new HashMap<>();
    store.tables().forEach(table -> tables.put(table.name(), table));
    Set<String> missing = new HashSet<>(tables.keySet());
    reader.tables().forEach(missing::remove);
    if (!missing.isEmpty()) {
      throw reader.fault("lacks tables " + missing);
    }
    store.begin();
    List<TableSum> sums = new ArrayList<>();
    String name;
    while ((name = reader.nextTable()) != null) {
      StoredTable table = tables.get(name);
      if (table == null) {
        throw reader.fault("has a table " + name + ", which this program does not know");
      }
      if (!reader.hasColumnsOf(table)) {
        throw reader.fault("has other columns in table " + name + " than this program");
      }
      sums.add(load(table));
    }
    store.commit();
    return sums;
  }

  private TableSum load(StoredTable table) throws IOException {
    List<List<@Nullable Object>> batch = new ArrayList<>(BATCH_ROWS);
    long size = 0;
    long done = 0;
    List<@Nullable Object> row;
    while ((row = reader.nextRow(table)) != null) {
      batch.add(row);
      size += size(row);
      if (batch.size() == BATCH_ROWS || size >= BATCH_SIZE) {
        store.insert(table, done + 1, batch);
        done += batch.size();
        batch = new ArrayList<>(BATCH_ROWS);
        size = 0;
      }
      progress.at(table.name(), done + batch.size(), reader.total());
    }
    if (!batch.isEmpty()) {
      store.insert(table, done + 1, batch);
    }
    return reader.sum();
  }

  private static long size(List<@Nullable Object> row) {
    long size = 0;
    for (Object value : row) {
      if (value instanceof String text) {
        size += text.length();
      } else if (value instanceof byte[] bytes) {
        size += bytes.length;
      }
    }
    return size;
  }
}
