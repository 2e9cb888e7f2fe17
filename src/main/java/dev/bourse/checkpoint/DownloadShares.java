package dev.bourse.checkpoint;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import java.util.HashMap;
import java.util.Map;

/**
 * Limits how many files each reader may have open at once. All readers share a fixed number;
 * without shares the slow readers of one organization would block the downloads of all others.
 *
 * <p>A reader may hold as many files as are free, so a reader with many files is rejected before
 * one with few, and the last slot is left for a reader without any. A fixed share ({@link
 * dev.bourse.core.Bulkhead}) was rejected: one small enough to protect many would slow down an
 * organization that is alone, and with a larger one a few readers could take all slots. Anonymous
 * readers together hold half of the slots at most, because addresses are free.
 *
 * <p>Slots count open files of the store. If readings of one blob share a file, the file takes one
 * slot however often it is read, so a thousand machines that start from the same file count as one.
 * If each reading opens its own file, each download takes a slot, because one reader could
 * otherwise exhaust the store by reading one file many times.
 */
final class DownloadShares {
  private static final long RETRY_MILLIS = 1_000;

  private final int most;
  private final int mostOfFeed;
  private final boolean sharesReadings;

  // Guarded by this object. The maps have no entries for idle readers and files.
  private final Map<Reader, Map<String, Integer>> held = new HashMap<>();
  private final Map<String, Integer> open = new HashMap<>();
  private final Map<String, Integer> openOnFeed = new HashMap<>();

  /** Number of downloads so far; makes keys unique where readings are not shared. */
  private long begun;

  /**
   * @param most files that may be open at once
   * @param sharesReadings see {@link dev.bourse.blob.BlobStore#sharesReadings}
   */
  DownloadShares(int most, boolean sharesReadings) {
    this.most = most;
    this.mostOfFeed = most / 2;
    this.sharesReadings = sharesReadings;
  }

  /**
   * The reader whose share a download counts against.
   *
   * @param isAnonymous whether only an address is known
   * @param name an organization's or operator's id, or an address
   */
  record Reader(boolean isAnonymous, String name) {}

  /**
   * Begins a download; fails with {@code overloaded} if the reader has used its share.
   *
   * @param blobKey the file's key
   * @return the slot, for {@link #end}
   */
  synchronized String begin(Reader reader, String blobKey) {
    // Keys of blobs do not contain this character.
    String key = sharesReadings ? blobKey : blobKey + '#' + begun++;
    Map<String, Integer> own = held.getOrDefault(reader, Map.of());
    if (!own.containsKey(key)) {
      int free = free(reader, key);
      if (own.size() >= free) {
        throw refusal(own.size(), free);
      }
    }
    held.computeIfAbsent(reader, first -> new HashMap<>()).merge(key, 1, Integer::sum);
    open.merge(key, 1, Integer::sum);
    if (reader.isAnonymous()) {
      openOnFeed.merge(key, 1, Integer::sum);
    }
    return key;
  }

  /** Returns how many files the reader may hold before this one. */
  private int free(Reader reader, String key) {
    int free = free(open, most, key);
    return reader.isAnonymous() ? Math.min(free, free(openOnFeed, mostOfFeed, key)) : free;
  }

  /** A file that is open already needs no further slot. */
  private static int free(Map<String, Integer> open, int most, String key) {
    int free = most - open.size();
    return open.containsKey(key) ? Math.max(1, free) : free;
  }

  private ApiException refusal(int held, int free) {
    return ApiException.retryLater(
        ErrorCode.OVERLOADED,
        held == 0
            ? "too many files are being read at once"
            : """
            %s %s for you, the most while there is room \
            for %s more; finish some downloads first\
            """
                .formatted(
                    held,
                    sharesReadings ? "different files are being read" : "downloads are in progress",
                    Math.max(0, free)),
        RETRY_MILLIS);
  }

  /**
   * Ends a download.
   *
   * @param key the slot from {@link #begin}
   */
  synchronized void end(Reader reader, String key) {
    held.computeIfPresent(
        reader,
        (same, files) -> {
          drop(files, key);
          return files.isEmpty() ? null : files;
        });
    drop(open, key);
    if (reader.isAnonymous()) {
      drop(openOnFeed, key);
    }
  }

  private static void drop(Map<String, Integer> counts, String key) {
    counts.computeIfPresent(key, (same, count) -> count == 1 ? null : count - 1);
  }
}
