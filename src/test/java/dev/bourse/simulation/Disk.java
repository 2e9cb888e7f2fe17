package dev.bourse.simulation;

import java.time.Clock;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** The local disk of one machine, used by one process after the other. */
final class Disk {
  /** The faults of a disk. */
  interface Luck {
    /** The duration of a call, in nanoseconds. */
    long delayNanos();

    boolean faults();

    boolean isFull();

    boolean isBusy();

    /** Returns a random number from 0 to below the bound. */
    int below(int bound);
  }

  /** A file, and when it was last written by the machine's clock. */
  static final class File {
    byte[] bytes;
    long writtenMillis;

    File(byte[] bytes, long writtenMillis) {
      this.bytes = bytes;
      this.writtenMillis = writtenMillis;
    }
  }

  final TreeMap<String, File> uploads = new TreeMap<>();
  final TreeMap<String, File> blobs = new TreeMap<>();
  final Luck luck;
  private final Clock clock;
  private boolean hasLost;
  private int losses;

  Disk(Clock clock, Luck luck) {
    this.clock = clock;
    this.luck = luck;
  }

  long nowMillis() {
    return clock.millis();
  }

  /** Returns true if a loss of power may have changed the bytes of an upload. */
  boolean hasLost() {
    return hasLost;
  }

  /** Returns how often bytes of uploads were lost. */
  int losses() {
    return losses;
  }

  /** Loses bytes of an upload, as the port allows. */
  void lose() {
    losses++;
  }

  /** Files that were not flushed lose their end or, on some file systems, have zeros there. */
  void losePower(SplittableRandom random) {
    lose();
    for (File file : uploads.values()) {
      int kept = random.nextInt(file.bytes.length + 1);
      if (random.nextInt(4) == 0) {
        file.bytes = file.bytes.clone();
        Arrays.fill(file.bytes, kept, file.bytes.length, (byte) 0);
        hasLost = true;
      } else {
        file.bytes = Arrays.copyOf(file.bytes, kept);
      }
    }
  }

  /** Moves all dates of files into the past. */
  void age(long millis) {
    for (Map<String, File> files : List.of(uploads, blobs)) {
      files.values().forEach(file -> file.writtenMillis -= millis);
    }
  }
}
