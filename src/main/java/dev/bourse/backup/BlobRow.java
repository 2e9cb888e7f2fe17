package dev.bourse.backup;

import dev.bourse.checkpoint.BlobName;
import dev.bourse.checkpoint.Revision;
import dev.bourse.store.transfer.StoredTable;
import dev.bourse.store.transfer.WholeStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A blob in the rows of a store.
 *
 * @param key its name
 * @param sha256 the digest of its bytes, in hex
 * @param store the object store that has it; empty for the data folder
 * @param isPublished if false, its digest is recorded but its bytes may not be stored yet
 */
public record BlobRow(String key, String sha256, String store, boolean isPublished) {

  /**
   * Reads the rows of published files, of a store of this release or an earlier one; a hundred
   * thousand rows take 20 MB.
   */
  public static List<BlobRow> listOf(WholeStore store) {
    Map<String, String> stores = new HashMap<>();
    read(store, "blob", row -> stores.put(row.apply("blob_key"), row.apply("store")));
    List<BlobRow> found = new ArrayList<>();
    read(
        store,
        "checkpoint_revision",
        row -> {
          String sha256 = row.apply("sha256");
          if (!sha256.isEmpty()) {
            int revision = Integer.parseInt(row.apply("revision"));
            String key = BlobName.key(row.apply("item_id"), revision, sha256);
            boolean isPublished = !row.apply("state").equals(Revision.State.PENDING.label());
            found.add(new BlobRow(key, sha256, stores.getOrDefault(key, ""), isPublished));
          }
        });
    read(
        store,
        "checkpoint_blob",
        row -> {
          String key = row.apply("blob_key");
          found.add(new BlobRow(key, row.apply("sha256"), stores.getOrDefault(key, ""), true));
        });
    return found;
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
}
