package dev.bourse.pem;

import java.nio.file.Path;

/** A file of certificates or keys that cannot be used. */
public final class PemException extends Exception {
  private static final long serialVersionUID = 1;

  private final String named;
  private final String file;
  private final String accepted;

  /**
   * @param named the setting or option that names the file
   * @param accepted the expected content, and the fault of the actual one
   */
  public PemException(String named, Path file, String accepted) {
    super("%s: '%s' is not acceptable; expected %s".formatted(named, file, accepted));
    this.named = named;
    this.file = file.toString();
    this.accepted = accepted;
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }

  /** The setting or option that names the file. */
  public String named() {
    return named;
  }

  /** The file. */
  public String file() {
    return file;
  }

  /** The expected content, and the fault of the actual one. */
  public String accepted() {
    return accepted;
  }
}
