package dev.bourse.secrets;

import java.lang.ref.Cleaner;
import java.util.concurrent.Semaphore;

/**
 * What a scan may still unpack: one for a file, shared by everything that is found within it, so
 * that nesting multiplies nothing. A file of some kilobytes may unpack to terabytes or to millions
 * of members, and the worker that scans it does nothing else meanwhile.
 */
final class Unpacking {
  /** Bytes: a fifth of a second of one worker. */
  static final long MOST = 64L << 20;

  /** Bytes for each one that was sent. Text packs to a third or a tenth, logs to a fiftieth. */
  static final int RATIO = 256;

  /** What may be unpacked before the ratio is known. */
  static final int FIRST = 32 * 1024;

  /** Members of archives: each costs about a microsecond, whatever is in it. */
  static final int MEMBERS = 100_000;

  /**
   * Layers within each other: a key in base64 in a file of a packed archive in an archive. Each
   * takes memory of its own.
   */
  static final int DEPTH = 4;

  /** A byte of bzip2 or xz takes as long as four of deflate. */
  static final int SLOW = 4;

  /** What one more layer costs before it unpacks anything: the memory of its scan is cleared. */
  private static final int LAYER = 8 * 1024;

  /** The memory of one unpacker of bzip2 or xz: a window, and a block or a dictionary. */
  static final int SLOW_MEMORY = 10 << 20;

  /**
   * Such unpackers in the whole process: an eighth of the heap. Uploads that wait for their next
   * request keep theirs, so without a bound idle sessions would fill the memory.
   */
  private static final Semaphore SLOW_PLACES =
      new Semaphore((int) Math.max(1, Runtime.getRuntime().maxMemory() / 8 / SLOW_MEMORY));

  /** Gives back the places of unpackers that nobody refers to any more. */
  static final Cleaner CLEANER = Cleaner.create();

  private long sent;
  private long unpacked;
  private long effort;
  private int members;

  /** Bytes of the file itself came. */
  void addSent(int bytes) {
    sent += bytes;
  }

  /** Whether more may be unpacked. */
  boolean isAllowed() {
    return effort < MOST && unpacked < RATIO * sent + FIRST;
  }

  /** Bytes were unpacked. */
  void addUnpacked(int bytes, int cost) {
    unpacked += bytes;
    effort += (long) bytes * cost;
  }

  /** Whether one more layer may be looked into; counts it. */
  boolean addLayer() {
    effort += LAYER;
    return isAllowed();
  }

  /** Whether one more member may be looked into; counts it. */
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
