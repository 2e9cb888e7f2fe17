package dev.bourse.walk;

/** Another process has the claim on the blob, or advanced the walk. */
public final class ClaimLostException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public ClaimLostException() {
    super("another process has the claim on this blob", null, false, false);
  }
}
