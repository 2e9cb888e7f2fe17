package dev.bourse.simulation;

import java.util.SplittableRandom;

/** One file on its way. */
final class UploadAttempt {
  final UploadPlace place;
  final byte[] bytes;
  final String sha256;

  /** Whether it has to be refused. */
  final boolean isDoomed;

  final SplittableRandom random;
  String itemId = "";
  int revision;
  String session = "";
  int tries;
  int step;

  /** So many bytes were acknowledged as kept, after so many losses of the disk. */
  long kept;

  int losses;

  /** How many of the first bytes were sent at all. */
  long sent;

  UploadAttempt(UploadPlace place, byte[] bytes, boolean isDoomed, SplittableRandom random) {
    this.place = place;
    this.bytes = bytes;
    this.isDoomed = isDoomed;
    this.random = random;
    sha256 = UploadClients.digest(bytes);
  }
}
