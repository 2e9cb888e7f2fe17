package dev.bourse.blob;

/** There is no such blob or upload, or there is none any more. Trying again does not help. */
public final class BlobGone extends RuntimeException {
  /** Says what is not there. It is an answer, not a fault, so it carries no stack trace. */
  public BlobGone(String message) {
    super(message, null, false, false);
  }
}
