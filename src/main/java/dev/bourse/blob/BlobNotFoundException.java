package dev.bourse.blob;

/** No such blob or upload exists, or it was deleted. Retrying does not help. */
public final class BlobNotFoundException extends RuntimeException {
  /** Creates the exception without a stack trace because a missing blob is an expected answer. */
  public BlobNotFoundException(String message) {
    super(message, null, false, false);
  }
}
