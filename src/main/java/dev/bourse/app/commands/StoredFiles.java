package dev.bourse.app.commands;

import dev.bourse.backup.BlobRow;
import dev.bourse.store.transfer.WholeStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Tells whoever takes rows elsewhere where the bytes are of the files that the rows tell of. */
final class StoredFiles {
  /** How many files are in each object store, by its name. */
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
