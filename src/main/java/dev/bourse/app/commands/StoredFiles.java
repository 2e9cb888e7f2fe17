package dev.bourse.app.commands;

import dev.bourse.checkpoint.BlobName;
import dev.bourse.store.transfer.StoredTable;
import dev.bourse.store.transfer.WholeStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Tells whoever takes rows elsewhere where the bytes are of the files that the rows tell of. */
final class StoredFiles {
  /** How many files are in each object store, by its name. */
  private final Map<String, Long> inObjects = new TreeMap<>();

  private long inFolder;

  private StoredFiles() {}

  /** Reads the rows of published files; a hundred thousand of them take 20 MB meanwhile. */
  static StoredFiles of(WholeStore store) {
    StoredFiles files = new StoredFiles();
    Map<String, String> storesByKey = new HashMap<>();
    read(store, "blob", row -> storesByKey.put(row.apply("blob_key"), row.apply("store")));
    read(
        store,
        "checkpoint_revision",
        row -> {
          if (!row.apply("sha256").isEmpty()) {
            int revision = Integer.parseInt(row.apply("revision"));
            String key = BlobName.key(row.apply("item_id"), revision, row.apply("sha256"));
            files.count(storesByKey.get(key));
          }
        });
    read(store, "checkpoint_blob", row -> files.count(storesByKey.get(row.apply("blob_key"))));
    return files;
  }

  private interface RowReader {
    /**
     * Reads a row.
     *
     * @param row its values by column, as texts; empty for null
     */
    void row(Function<String, String> row);
  }

  private static void read(WholeStore store, String name, RowReader reader) {
    for (StoredTable table : store.tables()) {
      if (table.name().equals(name)) {
        List<String> columns = table.columns().stream().map(StoredTable.Column::name).toList();
        store.read(
            table, values -> reader.row(column -> text(values.get(columns.indexOf(column)))));
      }
    }
  }

  private static String text(@Nullable Object value) {
    return value == null ? "" : value.toString();
  }

  private void count(@Nullable String store) {
    if (store == null) {
      inFolder++;
    } else {
      inObjects.merge(store, 1L, Long::sum);
    }
  }

  /** Where they are, in a sentence; empty when there are none. */
  List<String> told(String file) {
    List<String> places = new ArrayList<>();
    inObjects.forEach((store, count) -> places.add(count + " in " + store));
    if (inFolder > 0) {
      places.add(inFolder + " in the folder checkpoints of a data folder");
    }
    return places.isEmpty()
        ? List.of()
        : List.of(
            "the bytes of published files are not in %s, and stay where they are: %s"
                .formatted(file, String.join(", ", places)));
  }

  /**
   * The object stores that nobody would look for bytes in, in a sentence each.
   *
   * @param known the names of those of the settings
   */
  List<String> unreachable(List<String> known) {
    return inObjects.keySet().stream()
        .filter(store -> !known.contains(store))
        .map(
            store ->
                """
                serve finds no bytes in %s before checkpoints.store or checkpoints.former-store \
                names it\
                """
                    .formatted(store))
        .toList();
  }
}
