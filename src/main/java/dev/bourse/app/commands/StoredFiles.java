package dev.bourse.app.commands;

import dev.bourse.backup.BlobRow;
import dev.bourse.store.transfer.WholeStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Explains to operators who move rows where the bytes of the published files are. */
final class StoredFiles {
  /** The number of files in each object store, by its name. */
  private final Map<String, Long> inObjects = new TreeMap<>();

  private long inFolder;

  private StoredFiles() {}

  /** Reads the rows of published files. */
  static StoredFiles of(WholeStore store) {
    StoredFiles files = new StoredFiles();
    BlobRow.listOf(store).forEach(blob -> files.count(blob.store()));
    return files;
  }

  private void count(String store) {
    if (store.isEmpty()) {
      inFolder++;
    } else {
      inObjects.merge(store, 1L, Long::sum);
    }
  }

  /** The places of the bytes, in a sentence; empty if there are none. */
  List<String> locations(String file) {
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
   * The object stores that serve would not read, in a sentence each.
   *
   * @param known the names of the stores in the settings
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
