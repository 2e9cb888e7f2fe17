package dev.bourse.walk;

/** A stored blob does not have its recorded length or digest. */
public final class DamagedBlobException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final boolean isLength;

  DamagedBlobException(boolean isLength, String detail) {
    super(detail, null, false, false);
    this.isLength = isLength;
  }

  /** Returns true if the length differs, false if the bytes do. */
  public boolean isLength() {
    return isLength;
  }
}
