package dev.bourse.checkpoint;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import java.util.HashMap;
import java.util.Map;

/**
 * Limits how many files each reader may have open at once. All readers share a fixed number;
 * without shares the slow readers of one organization would keep everybody else from downloading.
 *
 * <p>A reader may hold as many files as are free, so whoever holds much is refused while one who
 * holds little is not, and the last place goes to somebody who has none. A fixed share ({@link
 * dev.bourse.core.Limit}) was rejected: one small enough to protect many would slow an organization
 * that is alone, and with one large enough for that a few together would take everything. Anonymous
 * readers together hold half at most, because addresses cost nothing.
 *
 * <p>What is counted is what the store has open. Where readings of one blob share a file, a file
 * that is read many times over is held once, whoever reads it: a thousand machines that start from
 * the same file are as good as one. Where each reading is one more, each download is counted, for
 * else one reader would take every place there is by reading one file often.
 */
final class DownloadShares {
  private static final long RETRY_MILLIS = 1_000;

  private final int most;
  private final int mostOfFeed;
  private final boolean sharesReadings;

  // What is below is guarded by this object; who and what is not read is not in the maps.
  private final Map<Reader, Map<String, Integer>> held = new HashMap<>();
  private final Map<String, Integer> open = new HashMap<>();
  private final Map<String, Integer> openOnFeed = new HashMap<>();

  /** How many downloads began, by which those are told apart that share nothing. */
  private long begun;

  /**
   * @param most files that may be read at once
   * @param sharesReadings see {@link dev.bourse.blob.BlobStore#sharesReadings}
   */
  DownloadShares(int most, boolean sharesReadings) {
    this.most = most;
    this.mostOfFeed = most / 2;
    this.sharesReadings = sharesReadings;
  }

  /**
   * Whose share a download is on.
   *
   * @param isAnonymous whether it is somebody of whom only an address is known
   * @param name an organization's or operator's id, or an address
   */
  record Reader(boolean isAnonymous, String name) {}

  /**
   * Begins a download; {@code overloaded} when the reader holds its share.
   *
   * @param blobKey the file's
   * @return what is held, until {@link #end}
   */
  synchronized String begin(Reader reader, String blobKey) {
    // No key of a blob has this sign.
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

  /** How many files the reader may hold before this one. */
  private int free(Reader reader, String key) {
    int free = free(open, most, key);
    return reader.isAnonymous() ? Math.min(free, free(openOnFeed, mostOfFeed, key)) : free;
  }

  /** Whoever reads a file that is open already takes nobody's place. */
  private static int free(Map<String, Integer> open, int most, String key) {
    int free = most - open.size();
    return open.containsKey(key) ? Math.max(1, free) : free;
  }

  private ApiError refusal(int held, int free) {
    return ApiError.retryLater(
        ErrorCode.OVERLOADED,
        held == 0
            ? "as many files are being read as may be at once"
            : """
            %s %s for you, as many as may be while there is room \
            for %s more; read them faster, or one after the other\
            """
                .formatted(
                    held,
                    sharesReadings ? "different files are being read" : "downloads are under way",
                    Math.max(0, free)),
        RETRY_MILLIS);
  }

  /**
   * Ends a download that was begun.
   *
   * @param key what {@link #begin} answered
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
