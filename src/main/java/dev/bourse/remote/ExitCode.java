package dev.bourse.remote;

/** What the command line ends with. */
public enum ExitCode {
  OK(0),
  /** The service understood and said no; the same command will be refused again. */
  REFUSED(1),
  /** The command line is wrong. */
  USAGE(2),
  /** The service cannot be reached or cannot serve now; the same command may do later. */
  UNAVAILABLE(3),
  /** A trail or a file was verified and is not whole. */
  NOT_WHOLE(4);

  private final int code;

  ExitCode(int code) {
    this.code = code;
  }

  /** What the process ends with, 0 to 4. */
  public int code() {
    return code;
  }
}
