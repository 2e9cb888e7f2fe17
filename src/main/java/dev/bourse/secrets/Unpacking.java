package dev.bourse.secrets;

import java.lang.ref.Cleaner;
import java.util.concurrent.Semaphore;

/**
 * The unpacking budget of a scan. A file has one budget, which all nested content shares, so that
 * nesting multiplies nothing. A file of some kilobytes may unpack to terabytes or to millions of
 * members, and its scan occupies a worker.
 */
final class Unpacking {
  /** The most unpacked bytes: a fifth of a second of one worker. */
  static final long MOST = 64L << 20;

  /**
   * The most unpacked bytes for each byte sent. Text compresses to a third or a tenth, logs to a
   * fiftieth.
   */
  static final int RATIO = 256;

  /** Bytes that may be unpacked before the ratio applies. */
  static final int FIRST = 32 * 1024;

  /** The most members of archives: each costs about a microsecond, even if it is empty. */
  static final int MEMBERS = 100_000;

  /**
   * The most nested layers: a key in base64 in a file of a compressed archive in an archive. Each
   * takes memory of its own.
   */
  static final int DEPTH = 4;

  /** The cost of a byte of bzip2 or xz, as a multiple of deflate's. */
  static final int SLOW = 4;

  /** The cost of one more layer before it unpacks anything: the memory of its scan is cleared. */
  private static final int LAYER = 8 * 1024;

  /** The memory of one bzip2 or xz unpacker: a window, and a block or a dictionary. */
  static final int SLOW_MEMORY = 10 << 20;

  /**
   * The concurrent unpackers of the process may take an eighth of the heap. Uploads that wait for
   * their next request keep their unpacker, so without a bound idle sessions would fill the memory.
   */
  private static final Semaphore SLOW_PLACES =
      new Semaphore((int) Math.max(1, Runtime.getRuntime().maxMemory() / 8 / SLOW_MEMORY));

  /** Releases the places of unpackers that are unreachable. */
  static final Cleaner CLEANER = Cleaner.create();

  private long sent;
  private long unpacked;
  private long effort;
  private int members;

  /** Counts bytes of the file itself. */
  void addSent(int bytes) {
    sent += bytes;
  }

  /** Whether more may be unpacked. */
  boolean isAllowed() {
    return effort < MOST && unpacked < RATIO * sent + FIRST;
  }

  /** Counts unpacked bytes. */
  void addUnpacked(int bytes, int cost) {
    unpacked += bytes;
    effort += (long) bytes * cost;
  }

  /** Takes one more layer from the budget, and returns whether there was one. */
  boolean addLayer() {
    effort += LAYER;
    return isAllowed();
  }

  /** Takes one more member from the budget, and returns whether there was one. */
  boolean addMember() {
    return members++ < MEMBERS;
  }

  long unpacked() {
    return unpacked;
  }

  static Semaphore slowPlaces() {
    return SLOW_PLACES;
  }
}
