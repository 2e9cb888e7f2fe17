package dev.bourse.edge.tls;

import java.nio.file.Path;

/** A file of a pair that cannot be used. */
final class PairFault extends Exception {
  private static final long serialVersionUID = 1;

  /** The setting that names the file. */
  final String setting;

  /** The file. */
  final String file;

  /** What it should be, and what it is. */
  final String accepted;

  PairFault(String setting, Path file, String accepted) {
    super("%s: '%s' is not acceptable; expected %s".formatted(setting, file, accepted));
    this.setting = setting;
    this.file = file.toString();
    this.accepted = accepted;
  }
}
