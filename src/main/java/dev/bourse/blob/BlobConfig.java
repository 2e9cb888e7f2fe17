package dev.bourse.blob;

/**
 * The bounds of a local blob store.
 *
 * @param threads threads that inspect and write blocks, 1 to 256. The default is one per core
 *     because inspection is CPU-bound. Half as many (at least one) inspect the stored bytes of
 *     reopened uploads.
 * @param openUploads uploads that may be open at once, 1 to 100,000. Each holds a file, its
 *     inspector and up to {@code waitingBlocks} blocks, so this bounds the memory of all uploads:
 *     the default is 128 MiB of blocks of 256 KiB.
 * @param waitingBlocks blocks of one upload that may wait or be in progress, 1 to 64; from 2 on,
 *     the next block is ready when a thread finishes one
 * @param openBlobs blobs that may be read at once, 1 to 100,000. Each holds one open file, which
 *     all its readers share.
 * @param waitingCalls other calls that may wait or be in progress, 1 to 100,000: opening,
 *     publishing, deleting, reading, listing
 * @param reserveBytes disk space that uploads leave free, 0 or more. The exchange's own database is
 *     often on the same disk and stops when that is full.
 */
public record BlobConfig(
    int threads,
    int openUploads,
    int waitingBlocks,
    int openBlobs,
    int waitingCalls,
    long reserveBytes) {
  public static final int UPLOADS = 128;

  public BlobConfig {
    check("threads", threads, 1, 256);
    check("openUploads", openUploads, 1, 100_000);
    check("waitingBlocks", waitingBlocks, 1, 64);
    check("openBlobs", openBlobs, 1, 100_000);
    check("waitingCalls", waitingCalls, 1, 100_000);
    check("reserveBytes", reserveBytes, 0, Long.MAX_VALUE);
  }

  /**
   * Returns bounds for one server: a thread per core, 128 uploads of 4 blocks each, 512 blobs open
   * for reading, 1,024 waiting calls, 1 GiB left free.
   */
  public static BlobConfig defaults() {
    return new BlobConfig(
        Math.min(256, Runtime.getRuntime().availableProcessors()),
        UPLOADS,
        4,
        512,
        1_024,
        1L << 30);
  }

  /** Returns the same bounds with another number of blobs that may be read at once. */
  public BlobConfig withOpenBlobs(int most) {
    return new BlobConfig(threads, openUploads, waitingBlocks, most, waitingCalls, reserveBytes);
  }

  private static void check(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + ": " + value + " is not within " + least + " to " + most);
    }
  }
}
