package dev.bourse.checkpoint;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.bourse.core.Slices;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Computes the lengths of sets' manifests from the rows of their files. The files of a revision
 * never change, so each revision is computed once per process and then cached.
 */
final class ManifestLengths {
  /** Cached revisions: about 5 MB. */
  private static final long MOST_CACHED = 50_000;

  /**
   * Items of one query. A set of 4,096 files takes 2 ms on a busy core, and other reads of the
   * store wait for it.
   */
  private static final int ITEMS = 5;

  /**
   * Length of {@link SetFile#manifest} in bytes: 97 for each file with its comma, plus the path, in
   * which only quotation marks are escaped, and the digits of the length. The first file has no
   * comma, and the frame has 12 bytes.
   */
  private static final String LENGTH =
      """
      SELECT item_id, revision, 11 + SUM(97 + octet_length(path) + length(path) \
      - length(replace(path, '"', '')) + length(CAST(bytes AS TEXT))) AS length \
      FROM checkpoint_file WHERE item_id IN (%s) GROUP BY item_id, revision\
      """;

  private final Database database;

  private final Cache<Key, Long> cached = Caffeine.newBuilder().maximumSize(MOST_CACHED).build();

  ManifestLengths(Database database) {
    this.database = database;
  }

  private record Key(String itemId, int revision) {}

  /** Returns the cached lengths of an item's manifests, by the numbers of their revisions. */
  Map<Integer, Long> of(Checkpoint item) {
    Map<Integer, Long> lengths = new HashMap<>();
    sets(item)
        .forEach(
            number -> {
              Long length = cached.getIfPresent(new Key(item.id(), number));
              if (length != null) {
                lengths.put(number, length);
              }
            });
    return lengths;
  }

  /** Returns the revisions of an item whose files are stored. */
  private static Stream<Integer> sets(Checkpoint item) {
    return Stream.of(
            Optional.ofNullable(item.draft()),
            Optional.ofNullable(item.head()),
            Optional.ofNullable(item.live()))
        .flatMap(Optional::stream)
        .filter(revision -> revision.metadata().isSet() && revision.isHeld())
        .map(Revision::number);
  }

  /** Computes the missing lengths of the sets among these items. */
  Future<Void> load(List<Checkpoint> items) {
    List<String> unknown =
        items.stream().filter(this::hasUnknown).map(Checkpoint::id).distinct().toList();
    return BoundedWork.inTurn(Slices.of(unknown, ITEMS), this::compute);
  }

  /** Returns true if the length of one of its manifests is not cached. */
  boolean hasUnknown(Checkpoint item) {
    return sets(item).anyMatch(number -> cached.getIfPresent(new Key(item.id(), number)) == null);
  }

  private Future<Void> compute(List<String> itemIds) {
    return database
        .read(
            LENGTH.formatted(String.join(", ", Collections.nCopies(itemIds.size(), "?"))),
            itemIds,
            row ->
                Map.entry(
                    new Key(row.text("item_id"), row.smallInteger("revision")),
                    row.integer("length")))
        .map(
            found -> {
              cached.putAll(
                  found.stream().collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
              return null;
            });
  }
}
