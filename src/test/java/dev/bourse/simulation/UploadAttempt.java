package dev.bourse.simulation;

import java.util.SplittableRandom;

/** One file being uploaded. */
final class UploadAttempt {
  final UploadPlace place;
  final byte[] bytes;
  final String sha256;

  /** Whether it must be rejected. */
  final boolean isDoomed;

  final SplittableRandom random;
  String itemId = "";
  int revision;
  String session = "";
  int tries;
  int step;

  /** Acknowledged bytes, and the number of the disk's losses at that time. */
  long kept;

  int losses;

  /** Bytes sent at all, from the start. */
  long sent;

  UploadAttempt(UploadPlace place, byte[] bytes, boolean isDoomed, SplittableRandom random) {
    this.place = place;
    this.bytes = bytes;
    this.isDoomed = isDoomed;
    this.random = random;
    sha256 = UploadClients.digest(bytes);
  }
}
