package dev.bourse.remote;

/** Exit codes of the command line. */
public enum ExitCode {
  OK(0),
  /** The service rejected the command; the same command will be rejected again. */
  REFUSED(1),
  /** The command line is wrong, or a confirmation is needed and there is no terminal. */
  USAGE(2),
  /** The service cannot be reached or cannot serve now; the same command may succeed later. */
  UNAVAILABLE(3),
  /** A trail or a file failed verification. */
  NOT_WHOLE(4);

  private final int code;

  ExitCode(int code) {
    this.code = code;
  }

  /** The code, 0 to 4. */
  public int code() {
    return code;
  }
}
